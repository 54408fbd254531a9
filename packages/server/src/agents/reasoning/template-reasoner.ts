import { eventMatchesOf } from '../../conditions/language.ts'
import { lastMailWith } from '../../conversations/last-mail.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { contactsMatching } from '../../segments/contacts-of.ts'
import { type ActionType, checkActionParams, type ProposedAction, typesOf } from '../action-types.ts'
import { readAgentSettings } from '../actions/settings.ts'
import type { AgentConfiguration } from '../agent.ts'
import { type PlaybookTemplate, playbookTemplates } from '../playbooks/templates.ts'
import { escapeMarkdown, fillIn, type VariableValues } from '../playbooks/variables.ts'
import { NOTHING_NOTICED, type WhyNow } from '../triggers/why-now.ts'
import { NO_FACTS, readPersonFacts } from './person-facts.ts'
import { personWords } from './person-words.ts'
import { type Evaluation, EvaluationError, NO_USAGE, type Reasoner } from './reasoner.ts'
import { type Sender, valuesFor } from './values.ts'

const BATCH = 50
/** Contacts recorded at the same time; the evaluation itself takes no time. */
const CONCURRENCY = 4
const NO_MESSAGES =
  'The template provider proposes nothing for this agent: set a playbook_template, playbook.messages or a model.'

/** Fills in the playbook's messages for contacts that meet its conditions. It needs no model, and the same data gives the same result. */
export function createTemplateReasoner(
  tenant: Tenant,
  configuration: AgentConfiguration,
  sender: Sender | null,
  why: WhyNow = NOTHING_NOTICED,
): Reasoner {
  const { playbook, playbook_template, capabilities } = configuration
  const template = playbook_template === null ? undefined : playbookTemplates().get(playbook_template)
  const messages = { ...template?.messages, ...playbook.messages }
  const types = typesOf(capabilities).filter((type) => messages[type] !== undefined)
  const nothing = Object.keys(messages).length === 0
  const topic = template && eventMatchesOf(template.when).find(({ url_contains }) => url_contains)?.url_contains
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
      const { time_zone: timeZone } = await readAgentSettings(tenant)
      const known = await readPersonFacts(tenant, contactIds)
      return async (context) => {
        const values = valuesFor(configuration, context, sender, now)
        const mail = await lastMailWith(tenant, context.contactId)
        const person = { context, facts: known.get(context.contactId) ?? NO_FACTS, mail, topic }
        const facts = [why(context.contactId), personWords(person, timeZone, now)].filter(Boolean).join(' ')
        if (!meant.has(context.contactId)) {
          return silent(`${facts} Does not meet the conditions of “${template?.title}”, so nothing is proposed.`)
        }
        if (types.length === 0) return silent(`${facts} The agent may propose none of its messages.`)
        const proposals = types.map((type) => propose(type, messages[type], values))
        const actions = proposals.flatMap(({ action }) => action ?? [])
        const reasons = [facts, reasonOf(template, values), ...proposals.flatMap(leftOut)]
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

const TYPE_WORDS: Record<ActionType, string> = {
  email_message: 'email',
  social_message: 'social message',
  social_connect: 'social invitation',
  note: 'note',
  crm_update: 'property update',
}

function leftOut({ type, missing }: { type: ActionType; missing: string[] }): string[] {
  if (missing.length === 0) return []
  return [`Left out the ${TYPE_WORDS[type]}, because ${[...new Set(missing)].join(' and ')} has no value.`]
}

/** A message with a variable that has neither a value nor a fallback is left out: half a greeting is worse than none. */
function propose(
  type: ActionType,
  params: Record<string, unknown> | undefined,
  values: VariableValues,
): { type: ActionType; action: ProposedAction | null; missing: string[] } {
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
  if (missing.length > 0) return { type, action: null, missing }
  const [problem] = checkActionParams(type, filled)
  if (problem) throw new EvaluationError(`The playbook's ${type} is not valid: ${problem.path} ${problem.message}.`)
  return { type, action: { type, params: filled } as ProposedAction, missing }
}
