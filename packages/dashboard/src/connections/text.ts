import { formatNumber } from '../ui/format.ts'

/** What happened to records, by the status that the service counts. */
const STATUSES: Readonly<Record<string, string>> = {
  created: 'created',
  updated: 'updated',
  unchanged: 'unchanged',
  deleted: 'deleted',
  merged: 'merged',
  accepted: 'recorded',
  recorded: 'recorded',
  known: 'already recorded',
  ignored: 'skipped',
  failed: 'failed',
}

/** The texts of connected systems, by page. */
export const text = {
  title: 'Connected systems',
  states: {
    waiting: 'waiting',
    pulling: 'pulling',
    failed: 'failing',
    signed_out: 'signed out',
    paused: 'paused',
  },
  statuses: STATUSES,
  count: (count: number, status: string) => `${formatNumber(count)} ${STATUSES[status] ?? status.replaceAll('_', ' ')}`,
  nothing: 'nothing changed',
  now: 'now',
  cancel: 'Cancel',

  list: {
    description: 'Systems that this workspace pulls contacts, companies, events and conversations from.',
    create: 'Connect a system',
    empty: 'No connected systems yet',
    emptyExplanation:
      'Connect your CRM, product analytics or help desk. Their data is imported once, then kept up to date.',
    system: 'System',
    account: 'Account',
    state: 'State',
    lastRun: 'Last run',
    nextPull: 'Next pull',
    counts: 'Changed',
    failed: 'Failed',
  },

  choice: {
    title: 'Connect a system',
    description: 'Choose a system.',
    reads: (objects: readonly string[]) => `Reads ${objects.map((name) => name.replaceAll('_', ' ')).join(', ')}.`,
  },

  create: {
    title: (label: string) => `Connect ${label}`,
    signIn: (label: string) => `Sign in at ${label}`,
    signInTitle: 'Sign in',
    signInHint: (label: string) => `${label} asks you to approve the access, then returns you to this workspace.`,
    credentialsTitle: 'Or enter credentials',
    settingsTitle: 'Settings',
    source: 'Source',
    sourceHint:
      'The source name for its data. Another account needs a different name, even after you delete a connection.',
    start: 'First read',
    starts: { everything: 'Everything', since: 'Only changes since a date' },
    since: 'Since',
    submit: 'Connect',
    failed: 'The system was not connected',
    stored: (description: string) => `${description} Stored encrypted and never shown again.`,
    show: (label: string) => `Show ${label}`,
    default: 'Default',
    unknown: 'This system does not exist.',
  },

  one: {
    title: 'Connected system',
    account: 'Account',
    source: 'Source',
    connected: 'Connected',
    nextPull: 'Next pull',
    lastRun: 'Last run',
    writesBack: 'Written back',
    writesWaiting: 'Contacts waiting to be written',
    createsMissing: 'Missing contacts',
    isCreated: 'Created',
    isNotCreated: 'Not created',
    writeError: 'Write error',
    storesActivities: 'Agents’ notes and emails',
    activitiesStored: 'Stored as activities',
    activitiesWaiting: 'Activities waiting to be stored',
    activitiesError: 'Activity error',
    failedTitle: 'The last pull failed',
    waitingTitle: 'Waiting to pull again',
    repeated: (ago: string) => `The next attempt starts ${ago}.`,
    signedOutTitle: 'The sign-in is no longer valid',
    signedOut: 'Nothing is pulled until you sign in again. The next pull then continues where the last one stopped.',
    signInAgain: 'Sign in again',
    pausedTitle: 'Paused',
    paused: 'Nothing is pulled until you resume it. The next pull then continues where the last one stopped.',
    askAdmin: 'Only admins can change this. Ask one of them.',
  },

  objects: {
    title: 'Progress',
    object: 'Records',
    until: 'Read up to',
    notYet: 'not yet',
    reading: 'in progress',
    notRead: 'not read',
    counts: 'Latest run',
  },

  runs: {
    title: 'Runs',
    started: 'Started',
    took: 'Duration',
    notComplete: 'incomplete',
    moment: 'less than 1 s',
    counts: 'Records',
    empty: 'No runs yet',
    emptyExplanation: 'The first run starts within seconds after you connect the system.',
  },

  errors: {
    title: 'Failed records',
    description:
      'All other records were written. IDs that name nobody, such as “undefined”, are ignored and listed too. The last 1,000 entries are kept.',
    at: 'When',
    object: 'Type',
    id: 'ID in the system',
    reason: 'Reason',
    empty: 'No failed records',
    emptyExplanation: 'Records that cannot be written are listed here, for example because a value is too long.',
  },

  actions: {
    pull: 'Pull now',
    pause: 'Pause',
    resume: 'Resume',
    more: 'More',
    reread: 'Read again',
    edit: 'Change credentials or settings',
    remove: 'Delete',
    removeTitle: (label: string) => `Delete the connection to ${label}?`,
    removeExplanation:
      'Pulls stop, and the credentials and the list of runs are deleted. Contacts, companies, events and conversations that it wrote stay. You cannot undo this.',
    removeConfirm: 'Delete connection',
  },

  reread: {
    title: 'Read again',
    explanation:
      'This reads everything again that changed in the system since a date, for example after you added a property there. It creates no duplicates.',
    since: 'Since',
    sinceHint: 'Leave blank to read everything.',
    submit: 'Read again',
  },

  writeBack: {
    title: (label: string) => `Write to ${label}`,
    explanation: (label: string) =>
      `When one of these contact properties changes here, the new value is written to ${label}, usually within seconds. The rule decides which value wins if ${label} has a different one.`,
    property: (number: number) => `Property ${number}`,
    choose: 'Choose a property',
    target: (label: string, number: number) => `Field ${number} in ${label}`,
    targetPlaceholder: (label: string) => `Field in ${label}`,
    conflict: (number: number) => `Rule ${number}`,
    conflicts: (label: string) => ({
      newest: 'Latest change wins',
      ours: 'The value in this workspace wins',
      theirs: `Only fill blanks in ${label}`,
    }),
    add: 'Add a property',
    remove: (number: number) => `Remove property ${number}`,
    createMissing: (label: string) => `Create contacts that ${label} does not have`,
    createMissingHint:
      'When a contact changes that has an email address and is not marked do_not_contact. If a record has the same email address, it is linked instead.',
    fieldHints: {
      hubspot: 'Enter the internal name of a field, such as jobtitle.',
      salesforce: 'Enter the API name of a field of contacts, such as Title or Score__c.',
      pipedrive:
        'Enter phone, name, or the API key of a custom field, which Pipedrive shows in its settings under Data fields.',
    } as Readonly<Record<string, string>>,
  },

  activities: {
    title: (label: string) => `Store agents’ activities in ${label}`,
    explanation: (label: string) =>
      `When an agent has written an approved note or sent an approved email, it is stored with the contact in ${label}, if ${label} has the contact. It is not read back.`,
    enabled: (label: string) => `Store notes and emails in ${label}`,
    enabledHint: (label: string) => `Only later ones are stored. If you turn this off, what ${label} has stays there.`,
  },

  edit: {
    title: (label: string) => `Credentials and settings of ${label}`,
    explanation:
      'Changes are tested before they are stored. If you change the settings, everything is read again. Connect another account separately, under another source.',
    keptHint:
      'Leave the credentials blank to keep the sign-in. If you change the host, such as the region, enter them again.',
    submit: 'Save changes',
  },
}
