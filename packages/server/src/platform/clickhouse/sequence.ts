/**
 * The column that orders rows by their arrival in ClickHouse: the number of the journal's batch that they came with. Its
 * default takes the number from the insertion's token, so that no row has to carry it. Rows that were inserted otherwise,
 * such as sample data, have 0. No time would do: a row can be inserted long after it was received.
 */
export const SEQUENCE_COLUMN = `sequence UInt64
    DEFAULT toUInt64OrZero(extract(getSetting('insert_deduplication_token'), '#([0-9]+)')) CODEC(Delta, ZSTD(1))`

/** A deduplication token that contains the number of the inserted rows. */
export function withSequence(token: string, sequence: number): string {
  return `${token}#${sequence}`
}
