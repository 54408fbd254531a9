import { DAY_MS } from '../../platform/time.ts'
import type { AgentConfiguration } from '../agent.ts'
import { playbookTemplates } from '../playbooks/templates.ts'
import type { VariableValues } from '../playbooks/variables.ts'
import { activeSpan } from './activity-words.ts'
import type { ContactContext } from './context.ts'

/** The sender of an agent's messages, as the texts mention it. */
export interface Sender {
  firstname: string
  lastname: string
  role: string
  jobtitle: string | null
}

/** Values that the tenant's users have set: the agent, its sender, and the playbook's variables. */
export function ownValues(
  { name, playbook, playbook_template }: AgentConfiguration,
  sender: Sender | null,
): VariableValues {
  const template = playbook_template === null ? undefined : playbookTemplates().get(playbook_template)
  const variables: Record<string, string> = { ...template?.variables, ...playbook.variables }
  const identity: Record<string, string | null> = sender
    ? { ...sender, name: `${sender.firstname} ${sender.lastname}`.trim() }
    : {}
  return lookUp({ agent: { name }, identity, variables })
}

/** Every variable's value for one contact. */
export function valuesFor(
  configuration: AgentConfiguration,
  { properties, company, events }: ContactContext,
  sender: Sender | null,
  now: Date,
): VariableValues {
  const own = ownValues(configuration, sender)
  const { first, last } = activeSpan(events)
  const name = [properties.firstname, properties.lastname].filter(Boolean).join(' ')
  const of = lookUp({
    contact: { ...properties, name: name || properties.email },
    company: company
      ? { ...company.properties, name: company.name ?? properties.company, domain: company.domain }
      : { name: properties.company },
    activity: {
      total_events: events.total,
      first_seen: first?.slice(0, 10),
      last_seen: last?.slice(0, 10),
      days_since_last_seen: last === null ? null : Math.max(0, Math.floor((now.getTime() - Date.parse(last)) / DAY_MS)),
      last_page: pageOf(events.latest.find(({ event }) => event === 'page_view')),
      top_page: pageOf(events.pages[0]),
    },
  })
  return (variable) => own(variable) ?? of(variable)
}

function lookUp(values: Record<string, Record<string, unknown>>): VariableValues {
  return (name) => {
    const dot = name.indexOf('.')
    const [root, key] = [name.slice(0, dot), name.slice(dot + 1)]
    const of = Object.hasOwn(values, root) ? values[root] : undefined
    const value = of && Object.hasOwn(of, key) ? of[key] : undefined
    return Array.isArray(value) ? value.join(', ') : (value as ReturnType<VariableValues>)
  }
}

function pageOf(page: { title: string | null; path?: string; url?: string | null } | undefined): string | null {
  return page?.title ?? page?.path ?? null
}
