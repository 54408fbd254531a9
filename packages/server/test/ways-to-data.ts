import type { Tag } from '../src/operations/tags.ts'

/** The position of the note that waits, among the actions of the contact in `oneOfEach`. */
export const NOTE_INDEX = 98

export const WRITES = ['contacts:write', 'companies:write', 'events:write']
export const READS = ['contacts:read', 'companies:read', 'events:read']
export const DELIVERED = ['contacts:read', 'events:read']

/** The things that are ways to data, by the tag of their operations, and the scopes of the data. */
export const WAYS: Partial<Record<Tag, string[]>> = {
  Sources: WRITES,
  Hooks: WRITES,
  Connections: WRITES,
  Webhooks: DELIVERED,
  Warehouse: READS,
  Providers: WRITES,
}

/** Scopes that already cover the data that their operations read or write. */
export const SCOPES_OF_DATA = ['contacts:write', 'companies:write', 'events:write', 'data:export', 'data:erase']

/**
 * The operations that change something and open nothing, with the reason. Any other one that changes something has a
 * scope of data itself, or needs the scopes that the other tables name.
 */
export const OPENS_NOTHING: Record<string, string> = {
  deleteSource: 'ends it',
  pushSourceContacts: 'writes contacts itself, with their scope',
  pushSourceConversations: 'writes conversations itself, with the scope of contacts',
  deleteHook: 'ends it',
  pauseConnection: 'stops it',
  deleteConnection: 'ends it',
  pauseWebhook: 'stops it',
  deleteWebhook: 'ends it',
  pauseWarehouseDestination: 'stops it',
  deleteWarehouseDestination: 'ends it',
  setOAuthClient: 'the client of later sign-ins, whose codes only this service receives',
  deleteOAuthClient: 'ends it',
  completeAuthorization: 'needs the scopes of what was started: authorizations.test.ts',
  deleteAgent: 'ends it',
  closeTenant: 'ends everything',
  reopenTenant: 'only owners, who may do everything: closing.test.ts',
  cancelRun: 'stops it',
  rejectAction: 'nothing executes',
  rejectActions: 'nothing executes',
  undoDecisions: 'nothing executes until it is approved again: undo.test.ts',
  updateAgentSettings: 'limits of all agents, which read and write no more by them',
  ask: 'reads with the scopes of its caller: ask.test.ts',
  createApiKey: 'a key has no scope that its creator lacks: settings.test.ts',
  updateApiKey: 'changes no scopes, and shows no more to a key of an AI agent: redacting-key.test.ts',
  revokeApiKey: 'ends it',
  updateConnectedApp: 'its person alone chooses tools, within the scopes of the grant: grant-tools.test.ts',
  revokeConnectedApp: 'ends it',
  createInvitation: 'a role has no scope that its inviter lacks: team-by-key.test.ts',
  renewInvitation: 'a role has no scope that its inviter lacks: team-by-key.test.ts',
  deleteInvitation: 'ends it',
  updateMember: 'a role has no scope that whoever gives it lacks: team-by-key.test.ts',
  removeMember: 'ends it',
  addDomain: 'what its pages send is unverified, as with a browser source',
  verifyDomain: 'what its pages send is unverified, as with a browser source',
  removeDomain: 'ends it',
  updateTenant: 'settings, which neither show nor write data',
  updateEnrichment: 'what the service fills in by itself; it shows no data, and writes only what follows from data',
  ...onBothPaths('Login', 'connects the profile from which approved messages are sent; nothing is read through it'),
  ...onBothPaths('LoginCode', 'completes that login'),
  createIdentity: 'a name without a mailbox or login',
  updateIdentity: 'a name',
  deleteIdentity: 'ends it',
  checkEmailAccount: 'tries the mailbox that was set, and shows no mail',
  removeEmailAccount: 'ends it',
  createView: 'stores a query, whose rows need the scopes of the list',
  replaceView: 'stores a query, whose rows need the scopes of the list',
  deleteView: 'ends it',
  deleteSegment: 'ends it',
  deleteReport: 'ends it',
  deleteAlert: 'ends it',
  deleteDashboard: 'ends it',
  unshareReport: 'ends it',
  unshareDashboard: 'ends it',
  unsubscribeFromDashboard: 'ends it',
  addSuppression: 'stops mails to an address that it names itself',
}

/** Operations of other tags that open a way, and reads that show data under another scope. */
export const OTHERS: Record<string, string[]> = {
  rotateIdentitySecret: WRITES,
  setConnectionActivities: ['contacts:read', 'agents:read'],
  setConnectionWriteBack: ['contacts:read', ...WRITES],
  setEmailAccount: ['contacts:read', 'contacts:write'],
  rereadMailbox: ['contacts:read', 'contacts:write'],
  listWebhookDeliveries: DELIVERED,
  getWebhookDelivery: DELIVERED,
  listHookBodies: READS,
  getHookBody: READS,
  listConnectionErrors: ['contacts:read'],
  proposeAction: ['contacts:read'],
  removeSuppression: ['contacts:write'],
  createSegment: ['contacts:read'],
  updateSegment: ['contacts:read'],
  createReport: ['events:read'],
  updateReport: ['events:read'],
  createAlert: ['events:read'],
  updateAlert: ['events:read'],
  createDashboard: ['events:read'],
  updateDashboard: ['events:read'],
  shareReport: ['events:read'],
  shareDashboard: ['events:read'],
  subscribeToDashboard: ['events:read'],
  previewSegment: ['contacts:read'],
  getImportPreview: ['contacts:read'],
  listKeptContacts: ['contacts:read'],
  dryRunAgent: ['agents:trigger', 'contacts:read', 'events:read'],
  replayAgent: ['agents:trigger', 'contacts:read', 'events:read'],
  createWarehouseDestination: ['settings:write', ...READS],
  updateWarehouseDestination: ['settings:write', ...READS],
}

/** Inputs that differ from the example. */
export const SENT: Record<string, Record<string, unknown>> = {
  createWebhook: { event: 'contact_updated', url: 'https://hooks.example.com/new' },
  startAuthorization: { provider: 'hubspot', purpose: { kind: 'connection', connector: 'hubspot' } },
}

export const MORE: { title: string; operation: string; sent: Record<string, unknown>; scopes: string[] }[] = [
  {
    title: 'a sign-in for a mailbox',
    operation: 'startAuthorization',
    sent: { provider: 'google', purpose: { kind: 'mailbox', identity_id: ':identity_id' } },
    scopes: ['contacts:read', 'contacts:write'],
  },
  ...['createAgent', 'updateAgent'].flatMap((operation) => [
    {
      title: 'an agent that monitors contacts',
      operation,
      sent: { name: 'Spy', monitoring: { filter: { match: 'all', conditions: [] } } },
      scopes: ['contacts:read', 'events:read'],
    },
    {
      title: 'an agent that writes notes',
      operation,
      sent: { name: 'Spy', capabilities: ['notes'] },
      scopes: ['contacts:write'],
    },
    {
      title: 'an agent that nobody approves',
      operation,
      sent: { name: 'Spy', playbook: { require_approval: false } },
      scopes: ['agents:approve'],
    },
  ]),
  {
    title: 'a run of the contacts that it names',
    operation: 'triggerAgent',
    sent: { contact_ids: [':contact_id'] },
    scopes: ['contacts:read', 'events:read'],
  },
  { title: 'the note that waits', operation: 'approveAction', sent: {}, scopes: ['contacts:write'] },
  {
    title: 'the notes that wait',
    operation: 'approveActions',
    sent: { actions: [{ run_id: ':run_id', contact_id: ':contact_id', action_index: NOTE_INDEX }] },
    scopes: ['contacts:write'],
  },
  {
    title: 'contacts that match',
    operation: 'changeContacts',
    sent: { matching: { search: 'ada' }, set: { properties: { x: 1 } } },
    scopes: ['contacts:read'],
  },
  {
    title: 'contacts by their events',
    operation: 'changeContacts',
    sent: {
      matching: { filter: { match: 'all', conditions: [{ event: { type: 'purchase' }, operator: 'did' }] } },
      set: { properties: { x: 1 } },
    },
    scopes: ['contacts:read', 'events:read'],
  },
  {
    title: 'companies that match',
    operation: 'changeCompanies',
    sent: { matching: { search: 'ada' }, set: { properties: { x: 1 } } },
    scopes: ['companies:read'],
  },
  ...['createSegment', 'updateSegment', 'previewSegment'].map((operation) => ({
    title: 'contacts by their events',
    operation,
    sent: {
      name: 'Buyers',
      filter: { match: 'all', conditions: [{ event: { type: 'purchase' }, operator: 'did' }] },
    },
    // They need contacts:read anyway.
    scopes: ['events:read'],
  })),
  ...['createAgent', 'updateAgent', 'dryRunAgent'].map((operation) => ({
    title: 'an agent whose model runs on a chosen server',
    operation,
    sent: {
      name: 'Spy',
      llm_config: { provider: 'openai_compatible', model: 'm', base_url: 'https://models.example.com/v1' },
    },
    // A dry run needs the others anyway.
    scopes: operation === 'dryRunAgent' ? ['companies:read'] : READS,
  })),
  { title: 'the newest body of a hook', operation: 'previewHook', sent: {}, scopes: READS },
  { title: 'the newest body of a hook, for a proposal', operation: 'proposeHookMapping', sent: {}, scopes: READS },
  // null means that the field is absent.
  { title: 'the newest body, with null', operation: 'previewHook', sent: { sample: null }, scopes: READS },
  {
    title: 'values of a property of contacts',
    operation: 'suggestSegmentValues',
    sent: { property: 'email' },
    scopes: ['contacts:read'],
  },
  {
    title: 'names of companies',
    operation: 'suggestSegmentValues',
    sent: { property: 'company_id' },
    scopes: ['companies:read'],
  },
  {
    title: 'names of events',
    operation: 'suggestSegmentValues',
    sent: { property: 'event.type' },
    scopes: ['events:read'],
  },
]

function onBothPaths(call: string, reason: string): Record<string, string> {
  return Object.fromEntries(['social', 'linkedin'].map((network) => [`${network}${call}`, reason]))
}
