import { isDeepStrictEqual } from 'node:util'
import { conflict, type ErrorDetail, validationError } from '../../platform/errors.ts'
import { announceChange } from '../../platform/postgres/invalidation.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { connectorNamed } from '../all-connectors.ts'
import { change, lockConnection } from '../connections.ts'
import type { Connector, WriteBack } from '../connector.ts'
import { type Position, withUnread } from '../position.ts'
import { emptyOutbox } from './outbox.ts'
import { settingsOf, type WriteBackPair, type WriteBackSettings } from './write-back.ts'

/**
 * Sets what a connection writes back; an empty list turns write-back off. Only later changes are written. Fields that were
 * not read before are read first, so that the system's values are known.
 * @returns whether that changed anything.
 * @throws ServiceError 404, 400, 409 `write_back_not_supported`.
 */
export async function setWriteBack(
  tx: Tenant,
  connectionId: string,
  sent: WriteBackSettings,
  now: Date,
): Promise<boolean> {
  const row = await lockConnection(tx, connectionId)
  const connector = connectorNamed(row.connector)
  const { writeBack } = connector
  if (!writeBack) {
    throw conflict('write_back_not_supported', `Changes cannot be written back to ${connector.label}.`)
  }
  checkPairs(connector, writeBack, sent.properties)
  const before = settingsOf(row)
  const after = sent.properties.length === 0 ? null : sent
  if (isDeepStrictEqual(before, after)) return false
  const isRead = (pair: WriteBackPair) =>
    writeBack.reads(pair) ||
    before?.properties.some(({ property, target }) => property === pair.property && target === pair.target) === true
  const position = row.position as unknown as Position
  const changes = {
    write_back: after === null ? null : JSON.stringify(after),
    write_back_error: null,
    write_back_failures: 0,
    write_back_at: now,
    ...(sent.properties.every(isRead)
      ? {}
      : { position: JSON.stringify(withUnread(position, writeBack.objects)), next_pull_at: now }),
  }
  await change(tx, connectionId, changes, now)
  if (after === null) await emptyOutbox(tx, connectionId)
  await announceChange(tx.db)
  return true
}

/** @throws ServiceError 400 naming the fields that cannot be written. */
export function checkPairs({ label }: Connector, { readOnly }: WriteBack, pairs: readonly WriteBackPair[]): void {
  const details: ErrorDetail[] = []
  const seen = { property: new Set<string>(), target: new Set<string>() }
  for (const [index, pair] of pairs.entries()) {
    const problem = (field: string, message: string) => details.push({ path: `properties.${index}.${field}`, message })
    if (pair.property === 'email') problem('property', 'cannot be written, because contacts are matched by email')
    if (pair.property === '__proto__') problem('property', 'is not a property')
    if (readOnly.includes(pair.target)) problem('target', `cannot be written in ${label}`)
    for (const field of ['property', 'target'] as const) {
      if (seen[field].has(pair[field])) problem(field, 'is listed twice')
      seen[field].add(pair[field])
    }
  }
  if (details.length > 0) throw validationError(details)
}
