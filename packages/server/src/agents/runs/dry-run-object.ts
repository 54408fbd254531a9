import Type from 'typebox'
import { Nullable } from '../../platform/http/responses.ts'
import { TEXT, WORD } from '../../platform/personal.ts'
import { ACTION_TYPES } from '../action-types.ts'
import { Action } from '../actions/action-object.ts'
import { ContactResult, Run } from './run-object.ts'

const { status, error, guardrails, params, identity_id } = Action.properties

/** What a run would conclude about a contact. */
const EVALUATION = {
  status: Type.Unsafe<'evaluated' | 'failed' | 'skipped'>({
    type: 'string',
    enum: ['evaluated', 'failed', 'skipped'],
  }),
  reasoning: Nullable(Type.String(TEXT)),
  error: Nullable(Type.String(TEXT)),
  proposed_actions: Type.Array(
    Type.Object(
      {
        type: Type.Enum([...ACTION_TYPES]),
        params,
        identity_id,
        status: Type.Unsafe<'pending_approval' | 'approved' | 'rejected'>({
          ...status,
          enum: ['pending_approval', 'approved', 'rejected'],
          description: 'The status that the action would have in a run.',
        }),
        guardrails,
        error,
      },
      { title: 'TriedAction' },
    ),
  ),
}

export const Tried = Type.Object(EVALUATION, { title: 'TriedEvaluation' })

export type TriedObject = Type.Static<typeof Tried>

export const TRIED_ON = {
  contact_id: ContactResult.properties.contact_id,
  contact: ContactResult.properties.contact,
}

/** By what a trial was evaluated. */
export const TRIED_BY = {
  provider: Type.String({ description: 'The model provider, or `template`.', ...WORD }),
  model: Nullable(Type.String(WORD)),
  notices: Type.Array(Type.String({ description: 'A note for readers, as in a run.', ...TEXT })),
}

/** What a run of an agent would do; nothing of it is stored. */
export const DryRun = Type.Object(
  {
    ...TRIED_BY,
    contacts: Type.Array(Type.Object({ ...TRIED_ON, ...EVALUATION })),
    usage: Run.properties.usage,
  },
  { title: 'DryRun' },
)

export type DryRunObject = Type.Static<typeof DryRun>
