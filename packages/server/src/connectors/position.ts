import type { Connector, ConnectorObject, Json } from './connector.ts'

/** The progress of a connection, by object. */
export interface Position {
  /** The run in progress; null between runs. */
  runId: string | null
  /** When that run started (ISO 8601). */
  runAt: string | null
  objects: Record<string, ObjectPosition>
}

interface ObjectPosition {
  /** Changes after this time have not been read yet (ISO 8601); null: nothing has been read. */
  since: string | null
  /** Whether the first read, or a requested reread, is incomplete. Its records are history. */
  isHistory: boolean
  /** The read in progress; null if it has not started, or is complete in this run. */
  read: { until: string; cursor: Json } | null
  /** Whether this run has read the object. */
  isDone: boolean
  /** Why it was not read: the system refused it, or an object that it needs. */
  error?: string
}

const NEW_OBJECT: ObjectPosition = { since: null, isHistory: true, read: null, isDone: false }

/** @param since the first read includes changes since this time; null: everything. */
export function startPosition({ objects }: Connector, since: Date | null): Position {
  const start = { ...NEW_OBJECT, since: since?.toISOString() ?? null }
  return { runId: null, runAt: null, objects: Object.fromEntries(objects.map(({ name }) => [name, start])) }
}

export function objectPosition(position: Position, name: string): ObjectPosition {
  return position.objects[name] ?? NEW_OBJECT
}

/** A run reads every object once. */
export function withRun({ objects }: Position, runId: string, now: Date): Position {
  const waiting = Object.entries(objects).map(([name, each]) => [name, { ...each, isDone: false }] as const)
  return { runId, runAt: now.toISOString(), objects: Object.fromEntries(waiting) }
}

export function withoutRun({ objects }: Position): Position {
  return { runId: null, runAt: null, objects }
}

/** The position after a page. @param next null: the object is complete. */
export function afterPage(position: Position, name: string, until: Date, next: Json): Position {
  const { error: _, ...before } = objectPosition(position, name)
  const after: ObjectPosition =
    next === null
      ? { since: until.toISOString(), isHistory: false, read: null, isDone: true }
      : { ...before, read: { until: until.toISOString(), cursor: next } }
  return { ...position, objects: { ...position.objects, [name]: after } }
}

/**
 * An object that this one needs and that was not read in this run; null if it can be read. The needed objects come before
 * it, so this run has read them or was refused.
 */
export function missingFor(position: Position, { needs = [] }: ConnectorObject): string | null {
  return needs.find((name) => objectPosition(position, name).error !== undefined) ?? null
}

/**
 * The time up to which this run reads an object: when the run started, or earlier if an object that it needs has been read
 * only up to an earlier time. A read of contacts that continues after a refusal ends when the run that started it started.
 */
export function endOfRead(position: Position, { name, needs = [] }: ConnectorObject, now: Date): Date {
  const { read } = objectPosition(position, name)
  if (read !== null) return new Date(read.until)
  const times = [position.runAt, ...needs.map((need) => objectPosition(position, need).since)]
  return new Date(Math.min(...times.map((time) => (time === null ? now.getTime() : Date.parse(time)))))
}

/** The position after an object could not be read. The next run tries again from the same place. */
export function afterRefusal(position: Position, name: string, error: string): Position {
  const after: ObjectPosition = { ...objectPosition(position, name), isDone: true, error }
  return { ...position, objects: { ...position.objects, [name]: after } }
}

/** The objects that were not read, with the reasons; null for none. */
export function refusedIn(position: Position, { objects }: Connector): string | null {
  const refused = objects.flatMap(({ name }) => {
    const { error } = objectPosition(position, name)
    return error === undefined ? [] : `${name}: ${error}`
  })
  return refused.length === 0 ? null : refused.join(' ')
}

/** A position that makes the next run read some objects from the start. */
export function withUnread(position: Position, names: readonly string[]): Position {
  const unread = Object.fromEntries(names.map((name) => [name, { ...NEW_OBJECT }]))
  return { ...position, objects: { ...position.objects, ...unread } }
}
