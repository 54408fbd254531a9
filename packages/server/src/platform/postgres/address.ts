import type { Socket } from 'node:net'

/** How a PostgreSQL server is reached. `stream`: makes the socket of each connection. */
export type PostgresAddress = (
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string; password?: string }
) & { stream?: () => Socket }
