// Whether the server answers. Every request tells; views ask again once it is back.

type Listener = () => void;

class Connection {
  lostAt: Date | null = null; // since when it does not answer
  round = 0; // how often it came back
  pending = 0; // requests under way
  private readonly listeners = new Set<Listener>();

  lost(): void {
    if (this.lostAt) return;
    this.lostAt = new Date();
    this.tell();
  }

  answered(): void {
    if (!this.lostAt) return;
    this.lostAt = null;
    ++this.round;
    this.tell();
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

export const connection = new Connection();
