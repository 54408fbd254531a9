import { ServiceError } from './errors.ts'

/** Facts about an error that never quote data: codes, names in the schema, files and addresses. */
const FACTS = [
  'code',
  'errno',
  'syscall',
  'path',
  'address',
  'port',
  'severity',
  'table',
  'column',
  'constraint',
] as const
const DEPTH_MAX = 5
/** A quotation of millions of characters would overflow the stack of the expression that finds it. */
const MESSAGE_LENGTH_MAX = 10_000

type Facts = Partial<Record<(typeof FACTS)[number], unknown>>

/** What the log shows of an error. */
interface LoggedError extends Facts {
  type: string
  message: string
  /** The places in the code, without the message. */
  stack?: string
  cause?: LoggedError
  errors?: LoggedError[]
}

/**
 * An error as the log shows it. Databases, parsers and the libraries of providers put rows, bodies and prompts into their
 * errors: into fields such as `detail`, and into the message. So of the fields only known facts are shown, and of a message
 * only what is not in quotation marks.
 */
export function loggedError(error: unknown, depth = 0): LoggedError {
  try {
    return readError(error, depth)
  } catch {
    // Its fields may be of any type, and reading them may throw. That must not hide what the line says besides.
    return { type: typeof error, message: 'unreadable' }
  }
}

function readError(error: unknown, depth: number): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: withoutQuotations(startOf(error)) }
  const { cause, errors } = error as { cause?: unknown; errors?: unknown }
  const fields = error as Facts
  const frames = String(error.stack)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  const isDeep = depth >= DEPTH_MAX
  return {
    type: error.name,
    message: messageOf(error),
    ...Object.fromEntries(FACTS.flatMap((fact) => (fields[fact] === undefined ? [] : [[fact, fields[fact]]]))),
    ...(frames.length > 0 ? { stack: frames.join('\n') } : {}),
    ...(cause instanceof Error && !isDeep ? { cause: loggedError(cause, depth + 1) } : {}),
    ...(Array.isArray(errors) && !isDeep
      ? { errors: errors.slice(0, 3).map((each) => loggedError(each, depth + 1)) }
      : {}),
  }
}

function messageOf(error: Error): string {
  const message = startOf(error.message)
  const refusal = refusalOf(error, message)
  if (refusal !== null) return `ClickHouse refused: ${refusal}`
  return quotesNoData(error) ? message : withoutQuotations(message)
}

function startOf(message: unknown): string {
  return String(message).slice(0, MESSAGE_LENGTH_MAX)
}

/** The kind of an error of ClickHouse, whose texts quote values without quotation marks; null for other errors. */
function refusalOf(error: Error, message: string): string | null {
  const { type } = error as { type?: unknown }
  if (typeof type === 'string' && /^[A-Z_]+$/.test(type)) return type
  if (!message.includes('DB::Exception')) return null
  return message.match(/(?<=\()[A-Z_]{5,}(?=\))/g)?.at(-1) ?? 'unknown error'
}

/** Mistakes in programs, which name variables; our own messages; and PostgreSQL's, unless they are about a value. */
function quotesNoData(error: Error): boolean {
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof ServiceError) return true
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' && !DATA_EXCEPTION.test(code)
}

/** The class of SQL states about values, and that of errors that a function raises. */
const DATA_EXCEPTION = /^(22|P0)/

/** A quotation: an apostrophe within a word does not begin or end one. One that does not end takes the rest. */
const QUOTATION = /(?<![\p{L}\p{N}])(["'`])(?:(?!\1(?![\p{L}\p{N}]))[\s\S])*(?:\1|$)/gu

function withoutQuotations(message: string): string {
  return message.replace(QUOTATION, '$1…$1')
}
