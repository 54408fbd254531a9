import pg from 'pg'
import { isLoadingBound, LOADED_BYTES_MAX, noteLoaded, responseTooLarge } from '../response-size.ts'

/** Fields of pg's queries that its types lack. */
interface RowReader {
  handleDataRow(message: { length: number }): void
  /** An error here discards all further rows and fails the query. */
  _canceledDueToError: Error | false
}

const Query = pg.Query as unknown as new (
  config: pg.QueryConfig,
  callback: (error: Error | undefined, result: pg.QueryResult) => void,
) => RowReader

/** A query that fails once its rows exceed the limit. */
class BoundedQuery extends Query {
  #bytes = 0

  override handleDataRow(message: { length: number }): void {
    this.#bytes += message.length
    noteLoaded(message.length)
    if (this.#bytes > LOADED_BYTES_MAX) this._canceledDueToError ||= responseTooLarge()
    super.handleDataRow(message)
  }
}

/** Limits the bytes that queries load through a connection. */
export function boundQueries(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...sent: unknown[]) => unknown
  const bounded = (...sent: unknown[]): unknown => {
    const [text, values, callback] = sent
    const isPlain = typeof text === 'string' && Array.isArray(values) && callback === undefined
    if (!isPlain || !isLoadingBound()) return query(...sent)
    return new Promise((resolve, reject) => {
      query(new BoundedQuery({ text, values }, (error, result) => (error ? reject(error) : resolve(result))))
    })
  }
  client.query = bounded as typeof client.query
}
