import pg from 'pg'
import { isLoadingBound, LOADED_BYTES_MAX, noteLoaded, responseTooLarge } from '../response-size.ts'
import { Collision } from './collisions.ts'
import { isOutdatedPlan, type PreparedStatements } from './prepared-statements.ts'

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

/** Prepares a client's statements that run often, and limits the bytes that queries load. */
export function wrapQueries(client: pg.PoolClient, prepared: PreparedStatements): void {
  const query = client.query.bind(client) as (...sent: unknown[]) => Promise<pg.QueryResult>

  function send(config: pg.QueryConfig): Promise<pg.QueryResult> {
    if (!isLoadingBound()) return query(config)
    return new Promise((resolve, reject) => {
      query(new BoundedQuery(config, (error, result) => (error ? reject(error) : resolve(result))))
    })
  }

  async function sendPrepared(name: string, text: string, values: unknown[]): Promise<pg.QueryResult> {
    try {
      return await send({ name, text, values })
    } catch (error) {
      if (!isOutdatedPlan(error)) throw error
      prepared.forget(text)
      // The error has ended a transaction, which has to start over.
      if (client.getTransactionStatus() !== 'I') throw new Collision()
      return send({ text, values })
    }
  }

  const wrapped = (...sent: unknown[]): unknown => {
    const [text, values, callback] = sent
    if (typeof text !== 'string' || !Array.isArray(values) || callback !== undefined) return query(...sent)
    const name = prepared.nameOf(text)
    return name === undefined ? send({ text, values }) : sendPrepared(name, text, values)
  }
  client.query = wrapped as typeof client.query
}
