import type { Socket } from 'node:net'

/** The address of a PostgreSQL server. `stream` creates the socket of each connection. */
export type PostgresAddress = (
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string; password?: string }
) & { stream?: () => Socket }
