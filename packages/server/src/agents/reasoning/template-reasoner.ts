import type { Tenant } from '../../platform/tenant.ts'
import { contactsMatching } from '../../segments/contacts-of.ts'
import { type ActionType, checkActionParams, type ProposedAction, typesOf } from '../action-types.ts'
import type { AgentConfiguration } from '../agent.ts'
import { type PlaybookTemplate, playbookTemplates } from '../playbooks/templates.ts'
import { escapeMarkdown, fillIn, type VariableValues } from '../playbooks/variables.ts'
import type { ContactContext } from './context.ts'
import { type Evaluation, EvaluationError, NO_USAGE, type Reasoner } from './reasoner.ts'
import { type Sender, valuesFor } from './values.ts'

const BATCH = 50
/** Contacts recorded at the same time; the evaluation itself takes no time. */
const CONCURRENCY = 4
const NO_MESSAGES =
  'The template provider proposes nothing for this agent: give it a playbook_template or playbook.messages, or a model.'

/** Fills in the playbook's messages for contacts that meet its conditions. It needs no model, and the same data gives the same result. */
export function createTemplateReasoner(
  tenant: Tenant,
  configuration: AgentConfiguration,
  sender: Sender | null,
): Reasoner {
  const { playbook, playbook_template, capabilities } = configuration
  const template = playbook_template === null ? undefined : playbookTemplates().get(playbook_template)
  const messages = { ...template?.messages, ...playbook.messages }
  const types = typesOf(capabilities).filter((type) => messages[type] !== undefined)
  const nothing = Object.keys(messages).length === 0
  return {
    provider: 'template',
    model: null,
    notices: nothing ? [NO_MESSAGES] : [],
    knowsCosts: true,
    concurrency: CONCURRENCY,
    batch: BATCH,
    prepare: async (contexts, now) => {
      const contactIds = contexts.map(({ contactId }) => contactId)
      const meant = template ? await contactsMatching(tenant, template.when, contactIds, now) : new Set(contactIds)
      return async (context) => {
        const values = valuesFor(configuration, context, sender, now)
        const facts = factsOf(context)
        if (!meant.has(context.contactId)) {
          return silent(
            `No action proposed: the contact does not meet the conditions of the playbook ${playbook_template}. ${facts}`,
          )
        }
        if (types.length === 0)
          return silent(`No action proposed: the playbook has no message for the contact. ${facts}`)
        const proposals = types.map((type) => propose(type, messages[type], values))
        const actions = proposals.flatMap(({ action }) => action ?? [])
        const missing = [...new Set(proposals.flatMap((proposal) => proposal.missing))]
        const reasons = [reasonOf(template, values), facts]
        if (missing.length > 0) reasons.push(`Left out for want of ${missing.join(', ')}.`)
        return { reasoning: reasons.filter(Boolean).join(' '), actions, dropped: [], usage: NO_USAGE }
      }
    },
  }
}

function silent(reasoning: string): Evaluation {
  return { reasoning, actions: [], dropped: [], usage: NO_USAGE }
}

function reasonOf(template: PlaybookTemplate | undefined, values: VariableValues): string {
  return template ? fillIn(template.reasoning, values).text : ''
}

/** The facts behind the decision, in one sentence. */
function factsOf({ events }: ContactContext): string {
  if (events.total === 0) return 'No events are known.'
  const types = events.by_type.slice(0, 3).map(({ event, count }) => `${count} ${event}`)
  const last = events.last === null ? '' : `, the last on ${events.last.slice(0, 10)}`
  return `${events.total} ${events.total === 1 ? 'event is' : 'events are'} known (${types.join(', ')})${last}.`
}

/** A message with a variable that has neither a value nor a fallback is left out: half a greeting is worse than none. */
function propose(
  type: ActionType,
  params: Record<string, unknown> | undefined,
  values: VariableValues,
): { action: ProposedAction | null; missing: string[] } {
  const missing: string[] = []
  const harmless = type === 'email_message' || type === 'note' ? escapeMarkdown : undefined
  const fill = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') {
      const filled = fillIn(value, values, key === 'subject' ? undefined : harmless)
      missing.push(...filled.missing)
      return filled.text
    }
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each, name)]))
  }
  const filled = fill(params, '')
  if (missing.length > 0) return { action: null, missing }
  const [problem] = checkActionParams(type, filled)
  if (problem) throw new EvaluationError(`The playbook's ${type} is not valid: ${problem.path} ${problem.message}.`)
  return { action: { type, params: filled } as ProposedAction, missing }
}
