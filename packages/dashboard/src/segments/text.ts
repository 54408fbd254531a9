import { formatDay, formatMoment, formatNumber } from '../ui/format.ts'

const companies = (count: number) => (count === 1 ? 'company' : 'companies')
const contacts = (count: number) => (count === 1 ? 'contact' : 'contacts')

/** The words of the segment pages. */
export const text = {
  entities: { contacts: 'Contacts', companies: 'Companies' },
  list: {
    title: 'Segments',
    description: 'Groups of contacts or companies that update themselves.',
    create: 'New segment',
    table: 'Segments',
    name: 'Name',
    members: 'Members',
    count: {
      contacts: (count: number) => formatNumber(count),
      companies: (count: number) => `${formatNumber(count)} ${companies(count)}`,
    },
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
    openAsList: 'Open as list',
    export: 'Export',
    more: 'More actions',
    startAgent: 'Start an agent for these contacts',
    webhook: 'Create a webhook for segment entries',
    duplicate: 'Duplicate',
    people: 'People',
    remove: 'Delete',
    removeTitle: 'Delete this segment?',
    removeHint: {
      contacts: 'Its contacts stay. Agents that use it will have no audience. You cannot undo this.',
      companies: 'Its companies stay. You cannot undo this.',
    },
    removeConfirm: 'Delete segment',
    filter: 'Filter',
    counting: 'Counting…',
    now: {
      contacts: (count: number | null) => (count === 1 ? 'contact now' : 'contacts now'),
      companies: (count: number | null) => (count === 1 ? 'company now' : 'companies now'),
    },
    created: (at: string) => `Created ${formatMoment(at)}`,
    size: 'Size over time',
    chart: 'Contacts in the segment by day',
    contacts: 'Contacts',
    entered: 'Entered',
    since: (at: string) => `Since ${formatDay(at)}, when the segment was created.`,
    past: (at: string) =>
      `The segment was created on ${formatDay(at)}. Before that, the line shows how many of today’s members were already contacts.`,
    notYet: (at: string) => `The segment was created on ${formatDay(at)}, after these days.`,
    redefined: (count: number) =>
      count > 0
        ? `Its filter added ${formatNumber(count)} ${contacts(count)} at once; they don’t count as entered.`
        : `Changes of its filter removed ${formatNumber(-count)} ${contacts(-count)} at once.`,
    members: 'Contacts',
    membersTable: 'Segment members',
    countingHint: {
      contacts: 'We are finding the contacts that match.',
      companies: 'We are finding the companies that match.',
    },
    noMembers: { contacts: 'No contacts in this segment', companies: 'No companies in this segment' },
    noMembersHint: {
      contacts: 'A contact joins as soon as it matches the filter.',
      companies: 'A company joins within seconds once it matches the filter.',
    },
  },
  changes: {
    title: 'Entered and left',
    change: 'Change',
    kinds: { entered: 'Entered', left: 'Left' },
    contact: 'Contact',
    deleted: 'Deleted contact',
    unnamed: 'Unnamed',
    why: 'Just before',
    unknown: 'No change in the minute before',
    when: 'When',
    none: 'Nobody entered or left yet',
    noneHint: 'Contacts that a new or changed filter added or removed are not listed.',
  },
  form: {
    copyOf: (name: string) => `Copy of ${name}`,
    newTitle: 'New segment',
    newDescription:
      'Choose which contacts or companies belong. They join and leave on their own as they change and act.',
    editTitle: 'Edit segment',
    breadcrumb: 'Segments',
    segment: 'Segment',
    create: 'Create segment',
    save: 'Save changes',
    cancel: 'Cancel',
    members: 'Members',
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
