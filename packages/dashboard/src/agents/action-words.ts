import type { Icon } from '@tabler/icons-react'
import { IconBrandLinkedin, IconMail, IconMessage, IconNotes, IconPencil } from '@tabler/icons-react'
import type { Action, ActionPlace } from '../api/types.ts'
import { text } from './text.ts'

/** The label of each type of action. */
export const ACTION_WORDS: Record<Action['type'], { label: string; icon: Icon; color: string }> = {
  email_message: { label: text.actions.email_message, icon: IconMail, color: 'ink' },
  social_message: { label: text.actions.social_message, icon: IconMessage, color: 'cyan' },
  social_connect: { label: text.actions.social_connect, icon: IconBrandLinkedin, color: 'cyan' },
  note: { label: text.actions.note, icon: IconNotes, color: 'grape' },
  crm_update: { label: text.actions.crm_update, icon: IconPencil, color: 'orange' },
}

export const ACTION_STATES: Record<Action['status'], { label: string; color: string }> = {
  pending_approval: { label: text.states.pending_approval, color: 'orange' },
  approved: { label: text.states.approved, color: 'ink' },
  rejected: { label: text.states.rejected, color: 'gray' },
  executed: { label: text.states.executed, color: 'teal' },
  failed: { label: text.states.failed, color: 'red' },
}

/** A key that identifies an action. */
export function actionKey({ run_id, contact_id, action_index }: ActionPlace): string {
  return `${run_id}/${contact_id}/${action_index}`
}

/** Who proposed an action in the name of an agent. */
export function proposerName({ kind, name }: NonNullable<Action['proposed_by']>): string {
  if (!name) return text.proposers[kind]
  return kind === 'api_key' ? text.proposers.key(name) : name
}

/** The name of a contact that may have none. */
export function personName(
  contact: { email: string | null; firstname: string | null; lastname: string | null } | null,
): string {
  if (contact === null) return text.deletedContact
  return [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email || text.unnamed
}
