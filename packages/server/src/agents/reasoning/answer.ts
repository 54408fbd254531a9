import Type from 'typebox'
import { compileBodyCheck } from '../../platform/http/body-validation.ts'
import { isStorableText } from '../../platform/http/json-body.ts'
import {
  ACTION_PARAMS,
  type ActionType,
  checkActionParams,
  isActionType,
  type ProposedAction,
} from '../action-types.ts'

export const ACTIONS_MAX = 5
const REASONING_LENGTH_MAX = 10_000
/** The number of problems that a model is told about its answer. */
const PROBLEMS_MAX = 10

/** The shape of a model's answer; the params of an action are checked by its type. */
const AnswerSchema = Type.Object(
  {
    reasoning: Type.String({ minLength: 1, maxLength: REASONING_LENGTH_MAX }),
    actions: Type.Array(
      Type.Object(
        {
          type: Type.String({ minLength: 1, maxLength: 100 }),
          params: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
        },
        { additionalProperties: false },
      ),
      { maxItems: ACTIONS_MAX },
    ),
  },
  { additionalProperties: false },
)

const checkShape = compileBodyCheck(AnswerSchema)

/** A model's answer, reduced to what the agent may propose. */
export interface Answer {
  reasoning: string
  actions: ProposedAction[]
  /** Why other actions were dropped. */
  dropped: string[]
}

/**
 * Parses a model's answer. Even if a contact's data has manipulated the model, only actions of the allowed types pass,
 * with params that name neither a recipient nor a sender.
 * @returns the answer, or its problems in words for the model.
 */
export function readAnswer(value: unknown, allowed: readonly ActionType[]): Answer | { problems: string } {
  const shape = checkShape(value)
  if (shape.length > 0) return { problems: inWords(shape) }
  const { reasoning, actions: proposed } = value as Type.Static<typeof AnswerSchema>
  if (!isStorableText(reasoning)) return { problems: 'reasoning contains a character that cannot be stored' }
  const actions: ProposedAction[] = []
  const dropped: string[] = []
  const problems = proposed.flatMap(({ type, params }, index) => {
    if (!isActionType(type) || !allowed.includes(type)) {
      dropped.push(`An action of the type ${JSON.stringify(type)} was dropped: the agent may not propose it.`)
      return []
    }
    actions.push({ type, params } as unknown as ProposedAction)
    return checkActionParams(type, params, `actions[${index}].params`)
  })
  return problems.length > 0 ? { problems: inWords(problems) } : { reasoning, actions, dropped }
}

/** The JSON schema for the model, with only those actions that the agent may propose. */
export function answerSchemaFor(allowed: readonly ActionType[]): object {
  const actions = allowed.map((type) => ({
    type: 'object',
    properties: { type: { const: type, type: 'string' }, params: withoutExtensions(ACTION_PARAMS[type]) },
    required: ['type', 'params'],
    additionalProperties: false,
  }))
  return {
    type: 'object',
    properties: {
      reasoning: { type: 'string', description: 'The reason, with the decisive facts, in two to six sentences.' },
      actions: {
        type: 'array',
        description: 'Empty when nothing should be done.',
        maxItems: ACTIONS_MAX,
        items: actions.length === 1 ? actions[0] : { anyOf: actions },
      },
    },
    required: ['reasoning', 'actions'],
    additionalProperties: false,
  }
}

function inWords(details: readonly { path: string; message: string }[]): string {
  return details
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => `${path || 'the answer'}: ${message}`)
    .join('; ')
}

/** Removes our own keywords, which providers do not know. */
function withoutExtensions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutExtensions)
  if (schema === null || typeof schema !== 'object') return schema
  const entries = Object.entries(schema).filter(([key]) => !key.startsWith('x-') && !key.startsWith('~'))
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutExtensions(value)]))
}
