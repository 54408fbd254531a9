import Type from 'typebox'
import { Nullable, Timestamp } from '../../platform/http/responses.ts'
import { bag, TEXT, WORD } from '../../platform/personal.ts'
import { WINDOW_DAYS } from './followed.ts'

const Count = (description: string) => Type.Integer({ description })

const VERSION = {
  playbook_version: Type.Integer(),
  since: Timestamp,
  until: Nullable(Timestamp, 'When the next version replaced it; null for the current one.'),
  playbook_template: Nullable(Type.String(WORD)),
}

/** A version of a playbook without its text. */
export const ListedVersion = Type.Object(VERSION, { title: 'ListedPlaybookVersion' })

/** What became of the proposals of one version of a playbook. */
export const VersionOutcomes = Type.Object(
  {
    ...VERSION,
    proposed: Count('Actions that the agent proposed: the sum of `waiting`, `approved` and `rejected`.'),
    waiting: Count('Actions that wait for approval now.'),
    approved: Count('Actions that were approved, by a person or automatically.'),
    auto_approved: Count('Approved actions that nobody had to approve, such as notes.'),
    edited: Count('Approved actions that a person changed.'),
    rejected: Count('Actions that a person rejected or a guardrail stopped.'),
    stopped_by_guardrails: Count('Rejected actions that a guardrail stopped.'),
    failed: Count('Approved actions that could not be executed.'),
    sent: Count('Messages that were sent. Notes and changes of properties are approved, but not sent.'),
    sent_recently: Count(
      `Sent messages that are less than ${WINDOW_DAYS} days old: what follows them may still change.`,
    ),
    replied: Count(`Sent messages after which the contact wrote within ${WINDOW_DAYS} days.`),
    goal_reached: Nullable(
      Type.Integer(),
      `Sent messages after which the contact had the event of the goal within ${WINDOW_DAYS} days; null without a goal.`,
    ),
    unsubscribed: Count(
      `Sent messages after which the contact opted out within ${WINDOW_DAYS} days, and has not agreed to mail again.`,
    ),
  },
  { title: 'AgentOutcomes' },
)

/** A version of a playbook with its text. */
export const PlaybookVersion = Type.Object(
  {
    playbook_version: Type.Integer(),
    since: Timestamp,
    playbook_template: Nullable(Type.String(WORD)),
    playbook: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'What it says: `playbook_md`, `variables`, `messages` and `config`, if the agent has them.',
      ...bag('template'),
    }),
    instructions: Nullable(
      Type.String(TEXT),
      'The text that a model follows: `playbook_md`, else the prompt of the template, as it is today.',
    ),
  },
  { title: 'PlaybookVersion' },
)
