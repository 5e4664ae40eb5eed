// What a query answers.

export interface SchemaTable {
  name: string;
  meaning: string;
  columns: { name: string; type: string; meaning: string }[];
}

export interface QueryAnswer {
  columns: string[];
  rows: (string | number | null)[][];
  cut: boolean;
  schema: string;
  tables: SchemaTable[];
  functions: { call: string; meaning: string }[];
}
