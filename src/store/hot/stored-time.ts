/** A time as the text that Prisma's SQLite adapter stores; PostgreSQL reads it too. */
export function storedTime(time: Date): string {
  return time.toISOString().replace('Z', '+00:00');
}
