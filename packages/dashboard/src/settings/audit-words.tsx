import type { LinkProps } from '@tanstack/react-router'
import { ACTION_WORDS } from '../agents/action-words.ts'
import type { AuditLogEntry } from '../api/types.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { text } from './audit-text.ts'

/** What was done: of an agent's action, also its type. */
export function entryWords({ action, subject_kind: kind, details }: AuditLogEntry): string {
  const type = kind === 'action' ? details.type : undefined
  const known = ACTION_TYPES.find(([name]) => name === type)
  return known ? text.withType(actionWords(action), known[1].label) : actionWords(action)
}

const ACTION_TYPES = Object.entries(ACTION_WORDS)

/** `api_key.created` as "Created an API key"; an action without a sentence keeps its name. */
function actionWords(action: string): string {
  const known = Object.hasOwn(text.actions, action) ? text.actions[action] : undefined
  if (known !== undefined) return known
  const spaced = action.replaceAll(/[._]/g, ' ').slice(0, 80)
  return spaced.slice(0, 1).toUpperCase() + spaced.slice(1)
}

export function kindWords(kind: string): string {
  const known = Object.hasOwn(text.kinds, kind) ? text.kinds[kind] : undefined
  return known ?? kind.replaceAll('_', ' ').slice(0, 40)
}

export function actorName({ kind, name }: AuditLogEntry['actor']): string {
  if (!name) return text.actors[kind]
  if (kind === 'api_key') return text.key(name)
  return kind === 'agent' ? text.agent(name) : name
}

/** Who did it: a person, a key or an agent, linked to where they are managed. */
export function Actor({ actor }: { actor: AuditLogEntry['actor'] }) {
  return <Linked to={actor.name && actor.id ? placeOf(actor.kind, actor.id) : undefined}>{actorName(actor)}</Linked>
}

/** What it was done to, by its name, linked if it still exists. */
export function Subject({ entry }: { entry: AuditLogEntry }) {
  const { subject_kind: kind, subject_id: id, subject_name: name, subject_exists: exists } = entry
  // An invitation that was accepted is gone too.
  if (exists === false && kind === 'invitation' && name) return <Foreign max={120}>{name}</Foreign>
  if (exists === false)
    return (
      <Foreign max={120}>{name ? `${name} (${text.deleted(kindWords(kind))})` : text.deleted(kindWords(kind))}</Foreign>
    )
  if (name === null && exists === null)
    return UNNAMED.has(kind) || id === null ? <None /> : <Foreign max={120}>{id}</Foreign>
  const to = id === null || exists !== true ? undefined : placeOf(kind, id)
  return <Linked to={to}>{name ?? kindWords(kind)}</Linked>
}

/** Kinds of which there is one, or whose id says nothing to people. */
const UNNAMED = new Set(['tenant', 'agent_settings', 'export', 'suppression', 'action'])

function Linked({ to, children }: { to: LinkProps | undefined; children: string }) {
  const name = <Foreign max={120}>{children}</Foreign>
  if (!to) return name
  return (
    <AnchorLink inherit {...to}>
      {name}
    </AnchorLink>
  )
}

/** The page of a record. */
function placeOf(kind: string, id: string): LinkProps | undefined {
  switch (kind) {
    case 'agent':
      return { to: '/agents/$agentId', params: { agentId: id } }
    case 'run':
      return { to: '/agents/runs/$runId', params: { runId: id } }
    case 'contact':
      return { to: '/contacts/$contactId', params: { contactId: id } }
    case 'action':
      return { to: '/contacts/$contactId', params: { contactId: id.split('/')[1] ?? '' }, search: { tab: 'actions' } }
    case 'company':
      return { to: '/companies/$companyId', params: { companyId: id } }
    case 'segment':
      return { to: '/segments/$segmentId', params: { segmentId: id } }
    case 'identity':
      return { to: '/identities/$identityId', params: { identityId: id } }
    case 'import':
      return { to: '/imports/$importId', params: { importId: id } }
    case 'connection':
      return { to: '/connections/$connectionId', params: { connectionId: id } }
    case 'webhook':
      return { to: '/webhooks/$webhookId', params: { webhookId: id } }
    case 'hook':
      return { to: '/hooks/$hookId', params: { hookId: id } }
    case 'warehouse_destination':
      return { to: '/settings/warehouse/$destinationId', params: { destinationId: id } }
    case 'api_key':
      return { to: '/settings/keys' }
    case 'source':
      return { to: '/settings/sources' }
    case 'domain':
      return { to: '/settings/domains' }
    case 'user':
    case 'invitation':
      return { to: '/settings/team' }
    default:
      return undefined
  }
}
