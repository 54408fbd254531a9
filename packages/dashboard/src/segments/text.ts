import { formatDay, formatMoment, formatNumber } from '../ui/format.ts'

const contacts = (count: number) => (count === 1 ? 'contact' : 'contacts')

/** The words of the segment pages. */
export const text = {
  list: {
    title: 'Segments',
    description: 'Groups of contacts that update themselves.',
    create: 'New segment',
    table: 'Segments',
    name: 'Name',
    contacts: 'Contacts',
    filter: 'Filter',
    created: 'Created',
    counting: 'Counting…',
    empty: 'No segments yet',
    emptyHint:
      'A segment is a filter on properties and events, such as leads who viewed your pricing page twice this week.',
  },
  segment: {
    title: 'Segment',
    breadcrumb: 'Segments',
    edit: 'Edit',
    remove: 'Delete',
    removeTitle: 'Delete this segment?',
    removeHint: 'Its contacts stay. Agents that use it will have no audience. You cannot undo this.',
    removeConfirm: 'Delete segment',
    filter: 'Filter',
    counting: 'Counting…',
    now: (count: number | null) => (count === 1 ? 'contact now' : 'contacts now'),
    created: (at: string) => `Created ${formatMoment(at)}`,
    size: 'Size over time',
    chart: 'Contacts in the segment by day',
    contacts: 'Contacts',
    entered: 'Entered',
    since: (at: string) => `Since ${formatDay(at)}, when the segment was created.`,
    notYet: (at: string) => `The segment was created on ${formatDay(at)}, after these days.`,
    redefined: (count: number) =>
      count > 0
        ? `Its filter added ${formatNumber(count)} ${contacts(count)} at once; they don’t count as entered.`
        : `Changes of its filter removed ${formatNumber(-count)} ${contacts(-count)} at once.`,
    members: 'Contacts',
    membersTable: 'Segment members',
    countingHint: 'We are finding the contacts that match.',
    noMembers: 'No contacts in this segment',
    noMembersHint: 'A contact joins as soon as it matches the filter.',
  },
  form: {
    newTitle: 'New segment',
    newDescription: 'Choose which contacts belong. They join and leave on their own as they change and act.',
    editTitle: 'Edit segment',
    breadcrumb: 'Segments',
    segment: 'Segment',
    create: 'Create segment',
    save: 'Save changes',
    cancel: 'Cancel',
    name: 'Name',
    description: 'Description',
    filter: 'Filter',
    notSaved: 'The segment was not saved',
  },
  json: {
    open: 'JSON',
    title: 'Edit the filter',
    hint: 'The format that the API and the command line use.',
    label: 'Filter as JSON',
    copy: 'JSON',
    use: 'Use this filter',
    invalid: 'This is not a filter. It needs "match" and a list of "conditions".',
  },
}
