import Type from 'typebox'
import type { SegmentFilter } from '../../conditions/language.ts'
import { SegmentFilterSchema } from '../../conditions/schema.ts'
import { idInPath, operationsWith } from '../../operations/declare.ts'
import { validationError } from '../../platform/errors.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { withDefault } from '../../platform/http/query-parameters.ts'
import { parseContactFilter } from '../../segments/contact-filters.ts'
import { requireKnownSegments } from '../../segments/named-segments.ts'
import { configurationOf } from '../agent.ts'
import { readAgent } from '../agents.ts'
import { applyInput, checkConfiguration } from '../configuration.ts'
import type { AgentServices } from '../operations.ts'
import { AGENT_FIELDS, PlaybookInput } from '../requests.ts'
import { requireContacts } from '../runs/trigger.ts'
import { pastContacts } from './past-contacts.ts'
import { replay } from './replay.ts'
import { Replay } from './replay-object.ts'

const CONTACTS = { max: 20, default: 5 }
const EVERYBODY: SegmentFilter = { match: 'all', conditions: [] }

const replayOperation = operationsWith<AgentServices>()

/** Tries another playbook on contacts that the agent has evaluated before. */
export const REPLAY_OPERATIONS = [
  replayOperation({
    name: 'replayAgent',
    tag: 'Agents',
    http: 'POST /v1/agents/:agent_id/replay',
    command: 'agent replay',
    scope: 'agents:write',
    also: [{ scopes: ['agents:trigger', 'contacts:read', 'events:read'] }],
    summary: 'Compare another playbook with the stored one on the same contacts, without storing it or its proposals',
    description:
      'Both are evaluated as in a dry run, with what is known of the contacts now, on the contacts that the agent evaluated last. Nothing is executed or proposed. Fields of `playbook` that are not sent stay as they are, and null removes one, as in a change of the agent. If a model is called, its cost counts towards the caps, both sides as one run, and the audit log has an entry. If a request is interrupted, a retry calls the model again, at a cost.',
    input: {
      agent_id: idInPath('agent'),
      playbook: PlaybookInput,
      playbook_template: AGENT_FIELDS.playbook_template,
      contact_ids: Type.Optional(
        Type.Array(idInput(), {
          minItems: 1,
          maxItems: CONTACTS.max,
          description: 'The contacts to evaluate, in this order, whether or not the agent has evaluated them.',
        }),
      ),
      filter: Type.Optional(
        Type.Unsafe<unknown>({
          'x-record': SegmentFilterSchema,
          description: 'Only contacts that match, of the latest 5,000 that the agent evaluated.',
        }),
      ),
      limit: withDefault(
        Type.Integer({ minimum: 1, maximum: CONTACTS.max, default: CONTACTS.default, description: 'Contacts.' }),
      ),
    },
    output: Replay,
    example: { playbook: { playbook_md: 'Write only to people who asked about prices.' } },
    errors: ['409 too_many_runs', '409 run_failed'],
    async run({ tenant, actor, now, isGivenUp, config, jobs, llmOutbound }, { agent_id, ...input }) {
      const { contact_ids, filter: sent, limit = CONTACTS.default, ...changes } = input
      if (contact_ids !== undefined && sent !== undefined) {
        throw validationError([{ path: 'filter', message: 'cannot be combined with contact_ids' }])
      }
      const row = await readAgent(tenant, agent_id)
      const current = configurationOf(row)
      const proposed = await tenant.transaction((tx) => checkConfiguration(tx, jobs, applyInput(current, changes)))
      const filter = sent === undefined ? EVERYBODY : parseContactFilter(sent)
      await requireKnownSegments(tenant, filter)
      const contactIds =
        contact_ids === undefined
          ? await tenant.heavyRead(() => pastContacts(tenant, agent_id, filter, limit, now))
          : (await requireContacts(tenant, contact_ids)).slice(0, limit)
      const request = { agentId: agent_id, playbookVersion: row.playbook_version, current, proposed, contactIds }
      return replay(tenant, { llm: config.llm, llmOutbound }, { ...request, actor, now, isGivenUp })
    },
    // The model is called outside a transaction, and a replay that fails has cost money too.
    audit: 'own',
  }),
]
