import type { Icon } from '@tabler/icons-react'
import { IconBrandLinkedin, IconMail, IconMessage, IconNotes, IconPencil } from '@tabler/icons-react'
import type { Action } from '../api/approvals.ts'

/** The label of each type of action. */
export const ACTION_WORDS: Record<Action['type'], { label: string; icon: Icon; color: string }> = {
  email_message: { label: 'E-mail', icon: IconMail, color: 'ink' },
  social_message: { label: 'Social message', icon: IconMessage, color: 'cyan' },
  social_connect: { label: 'Social invitation', icon: IconBrandLinkedin, color: 'cyan' },
  note: { label: 'Note', icon: IconNotes, color: 'grape' },
  crm_update: { label: 'Property update', icon: IconPencil, color: 'orange' },
}

export const ACTION_STATES: Record<Action['status'], { label: string; color: string }> = {
  pending_approval: { label: 'Waiting for approval', color: 'orange' },
  approved: { label: 'Approved', color: 'ink' },
  rejected: { label: 'Rejected', color: 'gray' },
  executed: { label: 'Done', color: 'teal' },
  failed: { label: 'Failed', color: 'red' },
}

/** The name of a contact that may have none. */
export function personName(
  contact: { email: string | null; firstname: string | null; lastname: string | null } | null,
): string {
  if (contact === null) return 'Deleted contact'
  return [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email || 'Unnamed'
}
