/** Answers one request of a visitor: its target does, or this server itself. */
export interface Responder {
  /** A piece of the request's body, or of what follows an upgrade. False = wait for `resumeVisitor`. */
  send(piece: Buffer): boolean;
  /** The whole request was sent. */
  requestSent(): void;
  /** The visitor ended its direction, after an upgrade. */
  finish(): void;
  /** The visitor takes bytes again. */
  resume(): void;
  /** The answer took too long. */
  silent(): void;
  /** The visitor has disconnected or canceled the request. */
  close(): void;
}
