import { formatNumber } from '../ui/format.ts'

/** The texts of the page of duplicates. */
export const text = {
  title: 'Duplicates',
  description: 'Contacts that are likely one person. Nothing is merged until you do it.',
  contacts: 'Contacts',
  none: 'No duplicates',
  noneHint: 'Pairs appear here within a minute after a contact is created or changed.',
  place: (at: number, of: number) => `Pair ${formatNumber(at)} of ${formatNumber(of)}`,
  confidence: (value: number) => `${certainty(value)}, ${Math.round(value * 100)}%`,
  reasons: 'Why',
  compared: 'The two contacts',
  property: 'Property',
  keep: (name: string) => `Keep ${name}`,
  kept: 'Keep this one',
  differs: 'Different',
  created: 'Created',
  createdBy: 'Created by',
  explanation:
    'The contact that you keep has its own email address and company, and the latest value of each other property. It gets the events, visitors and notes of the other. You can undo the merge. A dismissed pair is not shown again.',
  actions: 'Actions',
  previous: 'Previous',
  next: 'Next',
  merge: 'Merge',
  dismiss: 'Dismiss',
  undo: 'Undo merge',
  merged: (name: string) => `${name} was merged.`,
  undone: 'The merge was undone. The pair comes back within a minute.',
  dismissed: 'The pair was dismissed.',
}

function certainty(value: number): string {
  if (value >= 0.9) return 'Almost certainly one person'
  return value >= 0.8 ? 'Likely one person' : 'Maybe one person'
}
