import Type, { type Static } from 'typebox'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { validationError } from '../platform/errors.ts'
import { TEXT } from '../platform/personal.ts'
import { type AnswerInRanges, answerInRanges } from './answer-in-ranges.ts'
import { PATH_KINDS, type PathKind, type PathsFound, type PathsQuery, peopleOfPaths, readPaths } from './path-links.ts'
import { type Asked, compileFields, QUESTION_FIELDS, type QuestionContext, readQuestion } from './question.ts'
import type { Range } from './range.ts'
import { SampleAnswered } from './sample.ts'

const NAME_LENGTH_MAX = 2_000
const [DEPTH_MAX, DEPTH_DEFAULT] = [6, 4]
const [LIMIT_MAX, LIMIT_DEFAULT] = [500, 50]

function nodeName(description: string) {
  return Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, description, ...TEXT })
}

export const PATHS_INPUT = {
  ...QUESTION_FIELDS,
  kind: Type.Unsafe<PathKind>({
    type: 'string',
    enum: PATH_KINDS,
    description:
      "What a session's path consists of: the URL paths of its page views, or the names of its events. Neighbours that repeat count once. Events of the same time are in the order of their ids.",
  }),
  from: Type.Optional(nodeName('Paths begin where a session has this URL path or event first; others are left out.')),
  to: Type.Optional(
    nodeName('Paths end where a session has this URL path or event last; others are left out. Not with `from`.'),
  ),
  depth: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: DEPTH_MAX,
      description: `How many nodes of a path count. Default: ${DEPTH_DEFAULT}.`,
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      description: `How many links are returned: the largest ones. Default: ${LIMIT_DEFAULT}.`,
    }),
  ),
} as const
const Input = Type.Object(PATHS_INPUT)
export type PathsQuestion = Static<typeof Input>

const Step = Type.Integer({
  description: 'Counted from 1 at the beginning of a path or, with `to`, back from 0 at its end.',
})
const Count = Type.Integer({ description: 'How many sessions have it in their path.' })
const ANSWER = {
  nodes: Type.Array(Type.Object({ step: Step, name: Type.String(TEXT), count: Count }, { title: 'PathNode' }), {
    description:
      'The URL paths or events at each step, largest first: at most the 1,000 largest, and those of the links.',
  }),
  links: Type.Array(
    Type.Object(
      { from: Type.String(TEXT), to: Type.String(TEXT), step: Step, count: Count },
      { title: 'PathLink', description: 'From a node to the one after it. `step` is that of `from`.' },
    ),
    { description: 'The largest links, in order.' },
  ),
  others: Type.Integer({ description: 'How often the links that are left out were taken.' }),
}
export const PATHS_OUTPUT = {
  ...ANSWER,
  sample: SampleAnswered,
  compare: Type.Optional(
    Type.Object(ANSWER, { title: 'ComparedPaths', description: 'The answer for the compared range.' }),
  ),
}

export type PathsAnswer = AnswerInRanges<PathsFound>

/** Which ways sessions take. @throws ServiceError 400 naming every invalid field; 403. */
export async function paths(context: QuestionContext, sent: PathsQuestion): Promise<PathsAnswer> {
  const { asked, queryIn } = await read(context, sent)
  return answerInRanges(asked, sent, (range) => readPaths(queryIn(range)))
}

/** Which number of an answer about paths: that of a link, or of a node. */
export const PathsNumber = Type.Union([
  Type.Object(
    { step: Step, from: nodeName('The name of the first node.'), to: nodeName('The name of the node after it.') },
    { title: 'PathLinkNumber', additionalProperties: false },
  ),
  Type.Object(
    { step: Step, name: nodeName('The name of a node.') },
    { title: 'PathNodeNumber', additionalProperties: false },
  ),
])

/**
 * The different people of the sessions that a number counts, as a query with rows of `PersonRow`.
 * @throws ServiceError 400 and 403 as `paths` does.
 */
export async function peopleOfPath(
  context: QuestionContext,
  sent: PathsQuestion,
  at: Static<typeof PathsNumber>,
): Promise<EventSelect> {
  const { asked, queryIn } = await read(context, sent)
  const query = queryIn(asked.range)
  return 'name' in at ? peopleOfPaths(query, at.step, at.name, null) : peopleOfPaths(query, at.step, at.from, at.to)
}

async function read(
  context: QuestionContext,
  sent: PathsQuestion,
): Promise<{ asked: Asked; queryIn: (range: Range) => PathsQuery }> {
  const { kind, from, to, depth = DEPTH_DEFAULT, limit = LIMIT_DEFAULT } = sent
  if (from !== undefined && to !== undefined) {
    throw validationError([{ path: 'to', message: 'cannot be combined with from: send one of the two' }])
  }
  const asked = await readQuestion(context, sent)
  const [meant] = await compileFields(context, [['kind', kind === 'pages' ? { event: 'page_view' } : {}]])
  if (!meant) throw new Error('The field that was compiled has a condition.')
  const fixed =
    from !== undefined
      ? ({ end: 'first', name: from } as const)
      : to !== undefined
        ? ({ end: 'last', name: to } as const)
        : null
  return { asked, queryIn: (range) => ({ asked, range, kind, meant, fixed, depth, limit }) }
}
