import { formatNumber } from '../ui/format.ts'

const nounOf = {
  contacts: { one: 'contact', many: 'contacts' },
  companies: { one: 'company', many: 'companies' },
}
type Entity = keyof typeof nounOf

const counted = (entity: Entity, count: number) =>
  count === 1 ? `1 ${nounOf[entity].one}` : `${formatNumber(count)} ${nounOf[entity].many}`

/** The texts that the tables of contacts and companies share. */
export const text = {
  overview: {
    label: 'At a glance',
    lastSeen: 'Last seen',
    never: 'Never',
    visits: 'Visits',
    pageViews: (count: number) => (count === 1 ? '1 page view' : `${formatNumber(count)} page views`),
    pages: 'Favorite pages',
    noPages: 'No page views',
    times: (views: number) => ` ×${formatNumber(views)}`,
  },
  preview: {
    title: { contacts: 'Matching contacts', companies: 'Matching companies' },
    counting: 'Counting',
    counted: (entity: Entity, count: number, milliseconds: number) =>
      `${nounOf[entity][count === 1 ? 'one' : 'many']}, counted in ${formatNumber(milliseconds)} ms`,
    incomplete: (count: number) =>
      count === 1
        ? 'One condition is incomplete and ignored.'
        : `${formatNumber(count)} conditions are incomplete and ignored.`,
  },
  unnamed: 'Unnamed',
  contactColumns: {
    name: 'Name',
    stage: 'Stage',
    source: 'Source',
    created: 'Created',
    firstSeen: 'First seen',
    lastSeen: 'Last seen',
    neverSeen: 'Never',
    visits: 'Visits',
    segments: 'Segments',
    moreSegments: (count: number) => ` +${formatNumber(count)}`,
  },
  companyColumns: {
    name: 'Name',
    domain: 'Domain',
    created: 'Created',
  },
  filter: {
    button: (active: number) => (active > 0 ? `Filter (${formatNumber(active)})` : 'Filter'),
    title: 'Filter',
    region: 'Search and filter',
    segment: 'Segment',
    anySegment: 'Any segment',
    inSegment: (name: string) => `In segment ${name}`,
    unknownSegment: 'a deleted segment',
    ofImport: (fileName: string) => `From the import ${fileName}`,
    unknownImport: 'of a file',
    unfinished: (count: number) =>
      count === 1 ? '1 condition is incomplete.' : `${formatNumber(count)} conditions are incomplete.`,
    apply: 'Apply',
    cancel: 'Cancel',
    clear: 'Clear',
    remove: (condition: string) => `Remove the filter ${condition}`,
    saveAsSegment: 'Save as segment…',
  },
  segment: {
    title: 'Save as segment',
    description: {
      contacts: 'Contacts enter and leave the segment as they start or stop matching the filter.',
      companies: 'Companies enter and leave the segment as they start or stop matching the filter.',
    },
    onlyFilter: 'The search and the chosen segment are not part of it.',
    create: 'Create segment',
  },
  edit: {
    conflict: (entity: Entity) =>
      `Someone else has changed this ${nounOf[entity].one}. The table now shows its current values. Press Enter to save yours anyway, or Escape to discard it.`,
  },
  bulk: {
    selected: (count: number) => `${formatNumber(count)} selected`,
    selectMatching: (count: number) => `Select all ${formatNumber(count)} matching`,
    clear: 'Clear selection',
    setProperty: 'Set property',
    setCompany: 'Set company',
    enrich: 'Enrich',
    enrichStarted: (count: number) =>
      `Enriching ${counted('contacts', count)}. Settings → Enrichment shows how far it is, and can undo it.`,
    exportCsv: 'Export CSV',
    delete: 'Delete',
    property: 'Property',
    choose: 'Choose a property',
    value: 'Value',
    valueHint: 'Leave it empty to remove the value.',
    none: 'None',
    yes: 'Yes',
    no: 'No',
    setTitle: (entity: Entity, count: number) => `Set a property of ${counted(entity, count)}`,
    setButton: (entity: Entity, count: number) => `Change ${counted(entity, count)}`,
    companyTitle: (count: number) => `Set the company of ${counted('contacts', count)}`,
    findCompany: 'Find a company',
    findCompanyHint: 'Name or domain',
    companies: 'Companies',
    chosenCompany: (name: string) => `Company: ${name}`,
    noCompany: 'Remove the company',
    deleteTitle: (entity: Entity, count: number) => `Delete ${counted(entity, count)}?`,
    deleteExplanation: {
      contacts: 'The contacts and their notes are deleted permanently. Their events are kept.',
      companies: 'The companies are deleted permanently. Their contacts are kept, without a company.',
    },
    deleteButton: (entity: Entity, count: number) => `Delete ${counted(entity, count)}`,
    confirmWord: 'delete',
    confirmLabel: 'Type delete to confirm',
    cancel: 'Cancel',
    close: 'Close',
    stop: 'Stop',
    progress: (done: number, count: number) => `${formatNumber(done)} of ${formatNumber(count)} done`,
    result: (entity: Entity, done: number, isDeletion: boolean) =>
      `${counted(entity, done)} ${isDeletion ? 'deleted' : 'changed'}.`,
    stopped: 'You stopped before the end. What was done is kept.',
    failed: (entity: Entity, count: number) => `${counted(entity, count)} could not be changed:`,
    failure: (id: string, message: string) => `${id}: ${message}`,
    moreFailed: (count: number) => `and ${formatNumber(count)} more`,
  },
}
