// Who answers the page: a server, or the answers that a report has inside.

export type Parameters = Readonly<Record<string, string>>;

export class ApiError extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

export interface Answerer {
  readonly served: boolean; // by a server, which can be asked anything
  readonly notes: string[]; // what a report left out
  answer(resource: string, parameters: Parameters, signal?: AbortSignal): Promise<unknown>;
}
