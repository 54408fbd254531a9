// Generated from openapi.json by `npm run generate`.

import { Caller, type List, type RequestOptions } from '../call.ts'
import type {
  ActionResult,
  ActionsPage,
  AddDomainInput,
  AddSuppressionInput,
  AddSuppressionResult,
  AgentResult,
  AggregateInput,
  AggregateResult,
  AlertResult,
  AlertsPage,
  ApiKeyResult,
  ApiKeysPage,
  ApprovalsPage,
  ApproveActionInput,
  ApproveActionsInput,
  ApproveActionsResult,
  AskInput,
  AskResult,
  AuditLogEntryResult,
  AuditLogPage,
  BatchActivityInput,
  BatchActivityResult,
  BatchDetailsInput,
  BatchDetailsResult,
  BatchEngagementInput,
  BatchEngagementResult,
  CancelImportInput,
  CancelImportResult,
  CancelRunInput,
  ChangeCompaniesInput,
  ChangeCompaniesResult,
  ChangeContactsInput,
  ChangeContactsResult,
  CheckEmailAccountInput,
  CheckPlaybookInput,
  CheckPlaybookResult,
  CloseTenantInput,
  CloseTenantResult,
  CompaniesPage,
  CompanyContactsPage,
  CompanyEventsPage,
  CompanyResult,
  CompleteAuthorizationInput,
  CompleteAuthorizationResult,
  ComputedPropertiesPage,
  ComputedPropertyResult,
  ConnectedAppResult,
  ConnectedAppsPage,
  ConnectionErrorsPage,
  ConnectionResult,
  ConnectionRunsPage,
  ConnectionsPage,
  ConnectorResult,
  ContactEnrichmentResult,
  ContactResult,
  ContactVisitorsPage,
  ContactsPage,
  ConversationsPage,
  CreateAgentInput,
  CreateAlertInput,
  CreateApiKeyInput,
  CreateApiKeyResult,
  CreateCompanyInput,
  CreateComputedPropertyInput,
  CreateConnectionInput,
  CreateContactInput,
  CreateDashboardInput,
  CreateExportResult,
  CreateHookInput,
  CreateHookResult,
  CreateIdentityInput,
  CreateInvitationInput,
  CreateInvitationResult,
  CreateNoteInput,
  CreateReportInput,
  CreateSegmentInput,
  CreateSourceInput,
  CreateSourceResult,
  CreateViewInput,
  CreateWarehouseDestinationInput,
  CreateWebhookInput,
  CreateWebhookResult,
  DashboardResult,
  DashboardSubscriptionResult,
  DashboardsPage,
  DeleteAgentInput,
  DeleteAgentResult,
  DeleteAlertInput,
  DeleteAlertResult,
  DeleteCompanyInput,
  DeleteCompanyResult,
  DeleteComputedPropertyInput,
  DeleteComputedPropertyResult,
  DeleteConnectionInput,
  DeleteConnectionResult,
  DeleteContactInput,
  DeleteContactResult,
  DeleteDashboardInput,
  DeleteDashboardResult,
  DeleteHookInput,
  DeleteHookResult,
  DeleteIdentityInput,
  DeleteIdentityResult,
  DeleteInvitationInput,
  DeleteInvitationResult,
  DeleteNoteInput,
  DeleteNoteResult,
  DeleteOAuthClientInput,
  DeleteOAuthClientResult,
  DeleteReportInput,
  DeleteReportResult,
  DeleteSegmentInput,
  DeleteSegmentResult,
  DeleteSourceInput,
  DeleteSourceResult,
  DeleteViewInput,
  DeleteViewResult,
  DeleteWarehouseDestinationInput,
  DeleteWarehouseDestinationResult,
  DeleteWebhookInput,
  DeleteWebhookResult,
  DismissDuplicateInput,
  DismissDuplicateResult,
  DomainResult,
  DomainsPage,
  DownloadExportInput,
  DownloadFailedRowsInput,
  DryRunAgentInput,
  DryRunResult,
  DuplicatesPage,
  EmailAccountResult,
  EmailThreadsPage,
  EnrichContactInput,
  EnrichmentResult,
  EraseContactInput,
  ErasureReceiptResult,
  ErasuresPage,
  EventResult,
  EventTypesPage,
  EventsPage,
  ExportCompaniesInput,
  ExportContactsInput,
  ExportEventsInput,
  ExportReportInput,
  ExportResult,
  ExportsPage,
  GetActionInput,
  GetAgentInput,
  GetAgentOutcomesInput,
  GetAgentOutcomesResult,
  GetAgentRunInput,
  GetAgentSettingsResult,
  GetAlertInput,
  GetApiKeyInput,
  GetAskModelResult,
  GetAuditEntryInput,
  GetCompanyEngagementInput,
  GetCompanyEngagementResult,
  GetCompanyInput,
  GetComputedPropertyInput,
  GetConnectedAppInput,
  GetConnectionInput,
  GetConnectorInput,
  GetContactEngagementInput,
  GetContactEngagementResult,
  GetContactEnrichmentInput,
  GetContactInput,
  GetContactResult,
  GetConversationInput,
  GetConversationResult,
  GetDashboardInput,
  GetDashboardResult,
  GetDomainInput,
  GetEmailAccountInput,
  GetErasureInput,
  GetEventInput,
  GetEventStatsInput,
  GetEventStatsResult,
  GetExportInput,
  GetHookBodyInput,
  GetHookBodyResult,
  GetHookInput,
  GetIdentityConnectionsInput,
  GetIdentityInput,
  GetImportInput,
  GetImportPreviewInput,
  GetImportPreviewResult,
  GetInvitationInput,
  GetLimitsResult,
  GetMailboxInput,
  GetMemberInput,
  GetNoteInput,
  GetOAuthClientInput,
  GetOverviewInput,
  GetOverviewResult,
  GetPlaybookInput,
  GetPlaybookVersionInput,
  GetPropertyInput,
  GetReportInput,
  GetSegmentGrowthInput,
  GetSegmentGrowthResult,
  GetSegmentInput,
  GetSourceInput,
  GetSuppressionInput,
  GetTimelineInput,
  GetTimelineResult,
  GetTrackerResult,
  GetViewInput,
  GetVisitorInput,
  GetWarehouseDestinationInput,
  GetWarehouseRunInput,
  GetWebhookDeliveryInput,
  GetWebhookHealthInput,
  GetWebhookInput,
  HealthResult,
  HookBodiesPage,
  HookBodyResult,
  HookMappingResult,
  HookResult,
  HooksPage,
  IdentifyInput,
  IdentifyResult,
  IdentitiesPage,
  IdentityConnectionsResult,
  IdentityResult,
  ImportResult,
  ImportsPage,
  InsightFunnelInput,
  InsightFunnelResult,
  InsightPathsInput,
  InsightPathsResult,
  InsightPeopleInput,
  InsightPeopleResult,
  InsightRetentionInput,
  InsightRetentionResult,
  InsightTrendInput,
  InsightTrendResult,
  InsightWebInput,
  InsightWebResult,
  InvitationResult,
  InvitationsPage,
  KeptContactsPage,
  LinkedinCheckInput,
  LinkedinCheckResult,
  LinkedinLoginCodeInput,
  LinkedinLoginCodeResult,
  LinkedinLoginInput,
  LinkedinLoginResult,
  LinkedinLoginStatusInput,
  LinkedinLoginStatusResult,
  ListActionsInput,
  ListAgentRunsInput,
  ListAgentRunsResult,
  ListAgentsInput,
  ListAgentsResult,
  ListAlertsInput,
  ListApiKeysInput,
  ListApprovalsInput,
  ListAuditLogInput,
  ListCompaniesInput,
  ListCompanyContactsInput,
  ListCompanyEventsInput,
  ListComputedPropertiesInput,
  ListConnectedAppsInput,
  ListConnectionErrorsInput,
  ListConnectionRunsInput,
  ListConnectionsInput,
  ListConnectorsResult,
  ListContactEventsInput,
  ListContactEventsResult,
  ListContactVisitorsInput,
  ListContactsInput,
  ListConversationsInput,
  ListDashboardsInput,
  ListDomainsInput,
  ListDuplicatesInput,
  ListEmailThreadsInput,
  ListErasuresInput,
  ListEventTypesInput,
  ListEventsInput,
  ListExportsInput,
  ListHookBodiesInput,
  ListHooksInput,
  ListIdentitiesInput,
  ListImportsInput,
  ListInvitationsInput,
  ListKeptContactsInput,
  ListMailboxesInput,
  ListMembersInput,
  ListMergesInput,
  ListNotesInput,
  ListOAuthClientsResult,
  ListPersonalPropertiesInput,
  ListPersonalPropertiesResult,
  ListPlaybookVersionsInput,
  ListPropertiesInput,
  ListPropertiesResult,
  ListReportsInput,
  ListRequestProblemsInput,
  ListRunContactsInput,
  ListScheduleTimesInput,
  ListScheduleTimesResult,
  ListScopesResult,
  ListSegmentChangesInput,
  ListSegmentCompaniesInput,
  ListSegmentContactsInput,
  ListSegmentsInput,
  ListSourcesInput,
  ListSuppressionsInput,
  ListToolsResult,
  ListViewsInput,
  ListVisitsInput,
  ListWarehouseDestinationsInput,
  ListWarehouseRunsInput,
  ListWebhookDeliveriesInput,
  ListWebhookEventTypesResult,
  ListWebhookHealthInput,
  ListWebhooksInput,
  MailPreviewResult,
  MailboxResult,
  MailboxesPage,
  MemberResult,
  MembersPage,
  MergeContactInput,
  MergeContactResult,
  MergesPage,
  NoteResult,
  NotesPage,
  OAuthClientResult,
  PauseConnectionInput,
  PauseConnectionResult,
  PauseWarehouseDestinationInput,
  PauseWarehouseDestinationResult,
  PauseWebhookInput,
  PauseWebhookResult,
  PlaybookTemplateResult,
  PlaybookVersionResult,
  PlaybookVersionsPage,
  PlaybooksResult,
  PreviewAlertInput,
  PreviewAlertResult,
  PreviewHookInput,
  PreviewHookResult,
  PreviewImportInput,
  PreviewMailInput,
  PreviewSegmentInput,
  PreviewSegmentResult,
  PreviewWebhookMessageInput,
  PreviewWebhookMessageResult,
  PropertyResult,
  ProposeActionInput,
  ProposeHookMappingInput,
  PullConnectionInput,
  PushSourceContactsInput,
  PushSourceContactsResult,
  PushSourceConversationsInput,
  PushSourceConversationsResult,
  ReadSharedInput,
  ReadSharedResult,
  ReadyResult,
  ReceiveHookInput,
  ReceiveHookResult,
  RejectActionInput,
  RejectActionsInput,
  RejectActionsResult,
  RemoveDomainInput,
  RemoveDomainResult,
  RemoveEmailAccountInput,
  RemoveEmailAccountResult,
  RemoveMemberInput,
  RemoveMemberResult,
  RemoveSuppressionInput,
  RemoveSuppressionResult,
  RenewInvitationInput,
  RenewInvitationResult,
  ReplaceViewInput,
  ReplayAgentInput,
  ReplayAgentResult,
  ReportResult,
  ReportsPage,
  RequestProblemsPage,
  RereadConnectionInput,
  RereadMailboxInput,
  RereadMailboxResult,
  ResendWebhookDeliveriesInput,
  ResendWebhookDeliveriesResult,
  ResendWebhookDeliveryInput,
  ResumeConnectionInput,
  ResumeConnectionResult,
  ResumeWarehouseDestinationInput,
  ResumeWarehouseDestinationResult,
  ResumeWebhookInput,
  ResumeWebhookResult,
  RevealHookUrlInput,
  RevealHookUrlResult,
  RevokeApiKeyInput,
  RevokeApiKeyResult,
  RevokeConnectedAppInput,
  RevokeConnectedAppResult,
  RotateHookTokenInput,
  RotateHookTokenResult,
  RotateIdentitySecretResult,
  RotateWebhookSecretInput,
  RotateWebhookSecretResult,
  RotateWriteKeyInput,
  RotateWriteKeyResult,
  RunContactsPage,
  RunDashboardInput,
  RunDashboardResult,
  RunDetailResult,
  RunHookBodyInput,
  RunReportInput,
  RunReportResult,
  RunResult,
  RunWarehouseExportInput,
  RunWarehouseExportResult,
  SavedViewResult,
  SdkAliasInput,
  SdkBatchInput,
  SdkGroupInput,
  SdkImportInput,
  SdkPageInput,
  SdkResult,
  SdkScreenInput,
  SdkTrackInput,
  SegmentChangesPage,
  SegmentCompaniesPage,
  SegmentContactsPage,
  SegmentResult,
  SegmentsPage,
  SendEventsInput,
  SendEventsResult,
  SetConnectionActivitiesInput,
  SetConnectionActivitiesResult,
  SetConnectionWriteBackInput,
  SetConnectionWriteBackResult,
  SetEmailAccountInput,
  SetImportFormatInput,
  SetImportMappingInput,
  SetOAuthClientInput,
  ShareDashboardInput,
  ShareReportInput,
  ShareResult,
  SocialCheckInput,
  SocialCheckResult,
  SocialLoginCodeInput,
  SocialLoginCodeResult,
  SocialLoginInput,
  SocialLoginResult,
  SocialLoginStatusInput,
  SocialLoginStatusResult,
  SourceResult,
  SourcesPage,
  StartAuthorizationInput,
  StartAuthorizationResult,
  StartImportInput,
  SubscribeToDashboardInput,
  SuggestSegmentValuesInput,
  SuggestSegmentValuesResult,
  SuppressionResult,
  SuppressionsPage,
  TenantResult,
  TestWarehouseDestinationInput,
  TestWarehouseDestinationResult,
  TestWebhookInput,
  TestWebhookResult,
  TriggerAgentInput,
  TriggerAgentResult,
  UndoDecisionsInput,
  UndoDecisionsResult,
  UndoImportInput,
  UnmergeContactInput,
  UnmergeContactResult,
  UnshareDashboardInput,
  UnshareDashboardResult,
  UnshareReportInput,
  UnshareReportResult,
  UnsubscribeFromDashboardInput,
  UnsubscribeFromDashboardResult,
  UpdateAgentInput,
  UpdateAgentSettingsInput,
  UpdateAgentSettingsResult,
  UpdateAlertInput,
  UpdateAlertResult,
  UpdateApiKeyInput,
  UpdateApiKeyResult,
  UpdateCompanyInput,
  UpdateComputedPropertyInput,
  UpdateComputedPropertyResult,
  UpdateConnectedAppInput,
  UpdateConnectedAppResult,
  UpdateConnectionInput,
  UpdateContactInput,
  UpdateDashboardInput,
  UpdateDashboardResult,
  UpdateEnrichmentInput,
  UpdateHookInput,
  UpdateHookResult,
  UpdateIdentityInput,
  UpdateMemberInput,
  UpdateNoteInput,
  UpdateReportInput,
  UpdateReportResult,
  UpdateSegmentInput,
  UpdateSegmentResult,
  UpdateSourceInput,
  UpdateSourceResult,
  UpdateTenantInput,
  UpdateTenantResult,
  UpdateWarehouseDestinationInput,
  UpdateWarehouseDestinationResult,
  UpdateWebhookInput,
  UpdateWebhookResult,
  UploadImportInput,
  VerifyDomainInput,
  VerifyDomainResult,
  ViewsPage,
  VisitorResult,
  VisitsPage,
  WarehouseDestinationResult,
  WarehouseDestinationsPage,
  WarehouseRunResult,
  WarehouseRunsPage,
  WebhookDeliveriesPage,
  WebhookDeliveryResult,
  WebhookHealthPage,
  WebhookHealthResult,
  WebhookResult,
  WebhooksPage,
  WriteContactsBackInput,
  WriteContactsBackResult,
} from './types.gen.ts'

/** The input and the response of each operation, by its name. */
export interface OperationTypes {
  addDomain: { input: AddDomainInput; response: DomainResult }
  addSuppression: { input: AddSuppressionInput; response: AddSuppressionResult }
  aggregate: { input: AggregateInput; response: AggregateResult }
  approveAction: { input: ApproveActionInput; response: ActionResult }
  approveActions: { input: ApproveActionsInput; response: ApproveActionsResult }
  ask: { input: AskInput; response: AskResult }
  batchActivity: { input: BatchActivityInput; response: BatchActivityResult }
  batchDetails: { input: BatchDetailsInput; response: BatchDetailsResult }
  batchEngagement: { input: BatchEngagementInput; response: BatchEngagementResult }
  cancelImport: { input: CancelImportInput; response: CancelImportResult }
  cancelRun: { input: CancelRunInput; response: RunResult }
  changeCompanies: { input: ChangeCompaniesInput; response: ChangeCompaniesResult }
  changeContacts: { input: ChangeContactsInput; response: ChangeContactsResult }
  checkEmailAccount: { input: CheckEmailAccountInput; response: EmailAccountResult }
  checkPlaybook: { input: CheckPlaybookInput; response: CheckPlaybookResult }
  closeTenant: { input: CloseTenantInput; response: CloseTenantResult }
  completeAuthorization: { input: CompleteAuthorizationInput; response: CompleteAuthorizationResult }
  createAgent: { input: CreateAgentInput; response: AgentResult }
  createAlert: { input: CreateAlertInput; response: AlertResult }
  createApiKey: { input: CreateApiKeyInput; response: CreateApiKeyResult }
  createCompany: { input: CreateCompanyInput; response: CompanyResult }
  createComputedProperty: { input: CreateComputedPropertyInput; response: ComputedPropertyResult }
  createConnection: { input: CreateConnectionInput; response: ConnectionResult }
  createContact: { input: CreateContactInput; response: ContactResult }
  createDashboard: { input: CreateDashboardInput; response: DashboardResult }
  createExport: { input: Record<string, never>; response: CreateExportResult }
  createHook: { input: CreateHookInput; response: CreateHookResult }
  createIdentity: { input: CreateIdentityInput; response: IdentityResult }
  createInvitation: { input: CreateInvitationInput; response: CreateInvitationResult }
  createNote: { input: CreateNoteInput; response: NoteResult }
  createReport: { input: CreateReportInput; response: ReportResult }
  createSegment: { input: CreateSegmentInput; response: SegmentResult }
  createSource: { input: CreateSourceInput; response: CreateSourceResult }
  createView: { input: CreateViewInput; response: SavedViewResult }
  createWarehouseDestination: { input: CreateWarehouseDestinationInput; response: WarehouseDestinationResult }
  createWebhook: { input: CreateWebhookInput; response: CreateWebhookResult }
  deleteAgent: { input: DeleteAgentInput; response: DeleteAgentResult }
  deleteAlert: { input: DeleteAlertInput; response: DeleteAlertResult }
  deleteCompany: { input: DeleteCompanyInput; response: DeleteCompanyResult }
  deleteComputedProperty: { input: DeleteComputedPropertyInput; response: DeleteComputedPropertyResult }
  deleteConnection: { input: DeleteConnectionInput; response: DeleteConnectionResult }
  deleteContact: { input: DeleteContactInput; response: DeleteContactResult }
  deleteDashboard: { input: DeleteDashboardInput; response: DeleteDashboardResult }
  deleteHook: { input: DeleteHookInput; response: DeleteHookResult }
  deleteIdentity: { input: DeleteIdentityInput; response: DeleteIdentityResult }
  deleteInvitation: { input: DeleteInvitationInput; response: DeleteInvitationResult }
  deleteNote: { input: DeleteNoteInput; response: DeleteNoteResult }
  deleteOAuthClient: { input: DeleteOAuthClientInput; response: DeleteOAuthClientResult }
  deleteReport: { input: DeleteReportInput; response: DeleteReportResult }
  deleteSegment: { input: DeleteSegmentInput; response: DeleteSegmentResult }
  deleteSource: { input: DeleteSourceInput; response: DeleteSourceResult }
  deleteView: { input: DeleteViewInput; response: DeleteViewResult }
  deleteWarehouseDestination: { input: DeleteWarehouseDestinationInput; response: DeleteWarehouseDestinationResult }
  deleteWebhook: { input: DeleteWebhookInput; response: DeleteWebhookResult }
  dismissDuplicate: { input: DismissDuplicateInput; response: DismissDuplicateResult }
  downloadExport: { input: DownloadExportInput; response: Response }
  downloadFailedRows: { input: DownloadFailedRowsInput; response: Response }
  dryRunAgent: { input: DryRunAgentInput; response: DryRunResult }
  enrichContact: { input: EnrichContactInput; response: ContactEnrichmentResult }
  eraseContact: { input: EraseContactInput; response: ErasureReceiptResult }
  exportCompanies: { input: ExportCompaniesInput; response: Response }
  exportContacts: { input: ExportContactsInput; response: Response }
  exportEvents: { input: ExportEventsInput; response: Response }
  exportReport: { input: ExportReportInput; response: Response }
  getAction: { input: GetActionInput; response: ActionResult }
  getAgent: { input: GetAgentInput; response: AgentResult }
  getAgentOutcomes: { input: GetAgentOutcomesInput; response: GetAgentOutcomesResult }
  getAgentRun: { input: GetAgentRunInput; response: RunDetailResult }
  getAgentSettings: { input: Record<string, never>; response: GetAgentSettingsResult }
  getAlert: { input: GetAlertInput; response: AlertResult }
  getApiKey: { input: GetApiKeyInput; response: ApiKeyResult }
  getAskModel: { input: Record<string, never>; response: GetAskModelResult }
  getAuditEntry: { input: GetAuditEntryInput; response: AuditLogEntryResult }
  getCompany: { input: GetCompanyInput; response: CompanyResult }
  getCompanyEngagement: { input: GetCompanyEngagementInput; response: GetCompanyEngagementResult }
  getComputedProperty: { input: GetComputedPropertyInput; response: ComputedPropertyResult }
  getConnectedApp: { input: GetConnectedAppInput; response: ConnectedAppResult }
  getConnection: { input: GetConnectionInput; response: ConnectionResult }
  getConnector: { input: GetConnectorInput; response: ConnectorResult }
  getContact: { input: GetContactInput; response: GetContactResult }
  getContactEngagement: { input: GetContactEngagementInput; response: GetContactEngagementResult }
  getContactEnrichment: { input: GetContactEnrichmentInput; response: ContactEnrichmentResult }
  getConversation: { input: GetConversationInput; response: GetConversationResult }
  getDashboard: { input: GetDashboardInput; response: GetDashboardResult }
  getDomain: { input: GetDomainInput; response: DomainResult }
  getEmailAccount: { input: GetEmailAccountInput; response: EmailAccountResult }
  getEnrichment: { input: Record<string, never>; response: EnrichmentResult }
  getErasure: { input: GetErasureInput; response: ErasureReceiptResult }
  getEvent: { input: GetEventInput; response: EventResult }
  getEventStats: { input: GetEventStatsInput; response: GetEventStatsResult }
  getExport: { input: GetExportInput; response: ExportResult }
  getHook: { input: GetHookInput; response: HookResult }
  getHookBody: { input: GetHookBodyInput; response: GetHookBodyResult }
  getIdentity: { input: GetIdentityInput; response: IdentityResult }
  getIdentityConnections: { input: GetIdentityConnectionsInput; response: IdentityConnectionsResult }
  getImport: { input: GetImportInput; response: ImportResult }
  getImportPreview: { input: GetImportPreviewInput; response: GetImportPreviewResult }
  getInvitation: { input: GetInvitationInput; response: InvitationResult }
  getLimits: { input: Record<string, never>; response: GetLimitsResult }
  getMailbox: { input: GetMailboxInput; response: MailboxResult }
  getMember: { input: GetMemberInput; response: MemberResult }
  getNote: { input: GetNoteInput; response: NoteResult }
  getOAuthClient: { input: GetOAuthClientInput; response: OAuthClientResult }
  getOverview: { input: GetOverviewInput; response: GetOverviewResult }
  getPlaybook: { input: GetPlaybookInput; response: PlaybookTemplateResult }
  getPlaybookVersion: { input: GetPlaybookVersionInput; response: PlaybookVersionResult }
  getProperty: { input: GetPropertyInput; response: PropertyResult }
  getReport: { input: GetReportInput; response: ReportResult }
  getSegment: { input: GetSegmentInput; response: SegmentResult }
  getSegmentGrowth: { input: GetSegmentGrowthInput; response: GetSegmentGrowthResult }
  getSource: { input: GetSourceInput; response: SourceResult }
  getSuppression: { input: GetSuppressionInput; response: SuppressionResult }
  getTenant: { input: Record<string, never>; response: TenantResult }
  getTimeline: { input: GetTimelineInput; response: GetTimelineResult }
  getTracker: { input: Record<string, never>; response: GetTrackerResult }
  getView: { input: GetViewInput; response: SavedViewResult }
  getVisitor: { input: GetVisitorInput; response: VisitorResult }
  getWarehouseDestination: { input: GetWarehouseDestinationInput; response: WarehouseDestinationResult }
  getWarehouseRun: { input: GetWarehouseRunInput; response: WarehouseRunResult }
  getWebhook: { input: GetWebhookInput; response: WebhookResult }
  getWebhookDelivery: { input: GetWebhookDeliveryInput; response: WebhookDeliveryResult }
  getWebhookHealth: { input: GetWebhookHealthInput; response: WebhookHealthResult }
  health: { input: Record<string, never>; response: HealthResult }
  identify: { input: IdentifyInput; response: IdentifyResult }
  insightFunnel: { input: InsightFunnelInput; response: InsightFunnelResult }
  insightPaths: { input: InsightPathsInput; response: InsightPathsResult }
  insightPeople: { input: InsightPeopleInput; response: InsightPeopleResult }
  insightRetention: { input: InsightRetentionInput; response: InsightRetentionResult }
  insightTrend: { input: InsightTrendInput; response: InsightTrendResult }
  insightWeb: { input: InsightWebInput; response: InsightWebResult }
  linkedinCheck: { input: LinkedinCheckInput; response: LinkedinCheckResult }
  linkedinLogin: { input: LinkedinLoginInput; response: LinkedinLoginResult }
  linkedinLoginCode: { input: LinkedinLoginCodeInput; response: LinkedinLoginCodeResult }
  linkedinLoginStatus: { input: LinkedinLoginStatusInput; response: LinkedinLoginStatusResult }
  listActions: { input: ListActionsInput; response: ActionsPage }
  listAgentRuns: { input: ListAgentRunsInput; response: ListAgentRunsResult }
  listAgents: { input: ListAgentsInput; response: ListAgentsResult }
  listAlerts: { input: ListAlertsInput; response: AlertsPage }
  listApiKeys: { input: ListApiKeysInput; response: ApiKeysPage }
  listApprovals: { input: ListApprovalsInput; response: ApprovalsPage }
  listAuditLog: { input: ListAuditLogInput; response: AuditLogPage }
  listCompanies: { input: ListCompaniesInput; response: CompaniesPage }
  listCompanyContacts: { input: ListCompanyContactsInput; response: CompanyContactsPage }
  listCompanyEvents: { input: ListCompanyEventsInput; response: CompanyEventsPage }
  listComputedProperties: { input: ListComputedPropertiesInput; response: ComputedPropertiesPage }
  listConnectedApps: { input: ListConnectedAppsInput; response: ConnectedAppsPage }
  listConnectionErrors: { input: ListConnectionErrorsInput; response: ConnectionErrorsPage }
  listConnectionRuns: { input: ListConnectionRunsInput; response: ConnectionRunsPage }
  listConnections: { input: ListConnectionsInput; response: ConnectionsPage }
  listConnectors: { input: Record<string, never>; response: ListConnectorsResult }
  listContactEvents: { input: ListContactEventsInput; response: ListContactEventsResult }
  listContactVisitors: { input: ListContactVisitorsInput; response: ContactVisitorsPage }
  listContacts: { input: ListContactsInput; response: ContactsPage }
  listConversations: { input: ListConversationsInput; response: ConversationsPage }
  listDashboards: { input: ListDashboardsInput; response: DashboardsPage }
  listDomains: { input: ListDomainsInput; response: DomainsPage }
  listDuplicates: { input: ListDuplicatesInput; response: DuplicatesPage }
  listEmailThreads: { input: ListEmailThreadsInput; response: EmailThreadsPage }
  listErasures: { input: ListErasuresInput; response: ErasuresPage }
  listEventTypes: { input: ListEventTypesInput; response: EventTypesPage }
  listEvents: { input: ListEventsInput; response: EventsPage }
  listExports: { input: ListExportsInput; response: ExportsPage }
  listHookBodies: { input: ListHookBodiesInput; response: HookBodiesPage }
  listHooks: { input: ListHooksInput; response: HooksPage }
  listIdentities: { input: ListIdentitiesInput; response: IdentitiesPage }
  listImports: { input: ListImportsInput; response: ImportsPage }
  listInvitations: { input: ListInvitationsInput; response: InvitationsPage }
  listKeptContacts: { input: ListKeptContactsInput; response: KeptContactsPage }
  listMailboxes: { input: ListMailboxesInput; response: MailboxesPage }
  listMembers: { input: ListMembersInput; response: MembersPage }
  listMerges: { input: ListMergesInput; response: MergesPage }
  listNotes: { input: ListNotesInput; response: NotesPage }
  listOAuthClients: { input: Record<string, never>; response: ListOAuthClientsResult }
  listPersonalProperties: { input: ListPersonalPropertiesInput; response: ListPersonalPropertiesResult }
  listPlaybookVersions: { input: ListPlaybookVersionsInput; response: PlaybookVersionsPage }
  listPlaybooks: { input: Record<string, never>; response: PlaybooksResult }
  listProperties: { input: ListPropertiesInput; response: ListPropertiesResult }
  listReports: { input: ListReportsInput; response: ReportsPage }
  listRequestProblems: { input: ListRequestProblemsInput; response: RequestProblemsPage }
  listRunContacts: { input: ListRunContactsInput; response: RunContactsPage }
  listScheduleTimes: { input: ListScheduleTimesInput; response: ListScheduleTimesResult }
  listScopes: { input: Record<string, never>; response: ListScopesResult }
  listSegmentChanges: { input: ListSegmentChangesInput; response: SegmentChangesPage }
  listSegmentCompanies: { input: ListSegmentCompaniesInput; response: SegmentCompaniesPage }
  listSegmentContacts: { input: ListSegmentContactsInput; response: SegmentContactsPage }
  listSegments: { input: ListSegmentsInput; response: SegmentsPage }
  listSources: { input: ListSourcesInput; response: SourcesPage }
  listSuppressions: { input: ListSuppressionsInput; response: SuppressionsPage }
  listTools: { input: Record<string, never>; response: ListToolsResult }
  listViews: { input: ListViewsInput; response: ViewsPage }
  listVisits: { input: ListVisitsInput; response: VisitsPage }
  listWarehouseDestinations: { input: ListWarehouseDestinationsInput; response: WarehouseDestinationsPage }
  listWarehouseRuns: { input: ListWarehouseRunsInput; response: WarehouseRunsPage }
  listWebhookDeliveries: { input: ListWebhookDeliveriesInput; response: WebhookDeliveriesPage }
  listWebhookEventTypes: { input: Record<string, never>; response: ListWebhookEventTypesResult }
  listWebhookHealth: { input: ListWebhookHealthInput; response: WebhookHealthPage }
  listWebhooks: { input: ListWebhooksInput; response: WebhooksPage }
  liveEvents: { input: Record<string, never>; response: Response }
  mergeContact: { input: MergeContactInput; response: MergeContactResult }
  pauseConnection: { input: PauseConnectionInput; response: PauseConnectionResult }
  pauseWarehouseDestination: { input: PauseWarehouseDestinationInput; response: PauseWarehouseDestinationResult }
  pauseWebhook: { input: PauseWebhookInput; response: PauseWebhookResult }
  previewAlert: { input: PreviewAlertInput; response: PreviewAlertResult }
  previewHook: { input: PreviewHookInput; response: PreviewHookResult }
  previewImport: { input: PreviewImportInput; response: ImportResult }
  previewMail: { input: PreviewMailInput; response: MailPreviewResult }
  previewSegment: { input: PreviewSegmentInput; response: PreviewSegmentResult }
  previewWebhookMessage: { input: PreviewWebhookMessageInput; response: PreviewWebhookMessageResult }
  proposeAction: { input: ProposeActionInput; response: ActionResult }
  proposeHookMapping: { input: ProposeHookMappingInput; response: HookMappingResult }
  pullConnection: { input: PullConnectionInput; response: ConnectionResult }
  pushSourceContacts: { input: PushSourceContactsInput; response: PushSourceContactsResult }
  pushSourceConversations: { input: PushSourceConversationsInput; response: PushSourceConversationsResult }
  readShared: { input: ReadSharedInput; response: ReadSharedResult }
  ready: { input: Record<string, never>; response: ReadyResult }
  receiveHook: { input: ReceiveHookInput; response: ReceiveHookResult }
  rejectAction: { input: RejectActionInput; response: ActionResult }
  rejectActions: { input: RejectActionsInput; response: RejectActionsResult }
  removeDomain: { input: RemoveDomainInput; response: RemoveDomainResult }
  removeEmailAccount: { input: RemoveEmailAccountInput; response: RemoveEmailAccountResult }
  removeMember: { input: RemoveMemberInput; response: RemoveMemberResult }
  removeSuppression: { input: RemoveSuppressionInput; response: RemoveSuppressionResult }
  renewInvitation: { input: RenewInvitationInput; response: RenewInvitationResult }
  reopenTenant: { input: Record<string, never>; response: TenantResult }
  replaceView: { input: ReplaceViewInput; response: SavedViewResult }
  replayAgent: { input: ReplayAgentInput; response: ReplayAgentResult }
  rereadConnection: { input: RereadConnectionInput; response: ConnectionResult }
  rereadMailbox: { input: RereadMailboxInput; response: RereadMailboxResult }
  resendWebhookDeliveries: { input: ResendWebhookDeliveriesInput; response: ResendWebhookDeliveriesResult }
  resendWebhookDelivery: { input: ResendWebhookDeliveryInput; response: WebhookDeliveryResult }
  resumeConnection: { input: ResumeConnectionInput; response: ResumeConnectionResult }
  resumeWarehouseDestination: { input: ResumeWarehouseDestinationInput; response: ResumeWarehouseDestinationResult }
  resumeWebhook: { input: ResumeWebhookInput; response: ResumeWebhookResult }
  revealHookUrl: { input: RevealHookUrlInput; response: RevealHookUrlResult }
  revokeApiKey: { input: RevokeApiKeyInput; response: RevokeApiKeyResult }
  revokeConnectedApp: { input: RevokeConnectedAppInput; response: RevokeConnectedAppResult }
  rotateHookToken: { input: RotateHookTokenInput; response: RotateHookTokenResult }
  rotateIdentitySecret: { input: Record<string, never>; response: RotateIdentitySecretResult }
  rotateWebhookSecret: { input: RotateWebhookSecretInput; response: RotateWebhookSecretResult }
  rotateWriteKey: { input: RotateWriteKeyInput; response: RotateWriteKeyResult }
  runDashboard: { input: RunDashboardInput; response: RunDashboardResult }
  runHookBody: { input: RunHookBodyInput; response: HookBodyResult }
  runReport: { input: RunReportInput; response: RunReportResult }
  runWarehouseExport: { input: RunWarehouseExportInput; response: RunWarehouseExportResult }
  sdkAlias: { input: SdkAliasInput; response: SdkResult }
  sdkBatch: { input: SdkBatchInput; response: SdkResult }
  sdkGroup: { input: SdkGroupInput; response: SdkResult }
  sdkImport: { input: SdkImportInput; response: SdkResult }
  sdkPage: { input: SdkPageInput; response: SdkResult }
  sdkScreen: { input: SdkScreenInput; response: SdkResult }
  sdkTrack: { input: SdkTrackInput; response: SdkResult }
  sendEvents: { input: SendEventsInput; response: SendEventsResult }
  setConnectionActivities: { input: SetConnectionActivitiesInput; response: SetConnectionActivitiesResult }
  setConnectionWriteBack: { input: SetConnectionWriteBackInput; response: SetConnectionWriteBackResult }
  setEmailAccount: { input: SetEmailAccountInput; response: EmailAccountResult }
  setImportFormat: { input: SetImportFormatInput; response: ImportResult }
  setImportMapping: { input: SetImportMappingInput; response: ImportResult }
  setOAuthClient: { input: SetOAuthClientInput; response: OAuthClientResult }
  shareDashboard: { input: ShareDashboardInput; response: ShareResult }
  shareReport: { input: ShareReportInput; response: ShareResult }
  socialCheck: { input: SocialCheckInput; response: SocialCheckResult }
  socialLogin: { input: SocialLoginInput; response: SocialLoginResult }
  socialLoginCode: { input: SocialLoginCodeInput; response: SocialLoginCodeResult }
  socialLoginStatus: { input: SocialLoginStatusInput; response: SocialLoginStatusResult }
  startAuthorization: { input: StartAuthorizationInput; response: StartAuthorizationResult }
  startImport: { input: StartImportInput; response: ImportResult }
  subscribeToDashboard: { input: SubscribeToDashboardInput; response: DashboardSubscriptionResult }
  suggestSegmentValues: { input: SuggestSegmentValuesInput; response: SuggestSegmentValuesResult }
  testWarehouseDestination: { input: TestWarehouseDestinationInput; response: TestWarehouseDestinationResult }
  testWebhook: { input: TestWebhookInput; response: TestWebhookResult }
  triggerAgent: { input: TriggerAgentInput; response: TriggerAgentResult }
  undoDecisions: { input: UndoDecisionsInput; response: UndoDecisionsResult }
  undoImport: { input: UndoImportInput; response: ImportResult }
  unmergeContact: { input: UnmergeContactInput; response: UnmergeContactResult }
  unshareDashboard: { input: UnshareDashboardInput; response: UnshareDashboardResult }
  unshareReport: { input: UnshareReportInput; response: UnshareReportResult }
  unsubscribeFromDashboard: { input: UnsubscribeFromDashboardInput; response: UnsubscribeFromDashboardResult }
  updateAgent: { input: UpdateAgentInput; response: AgentResult }
  updateAgentSettings: { input: UpdateAgentSettingsInput; response: UpdateAgentSettingsResult }
  updateAlert: { input: UpdateAlertInput; response: UpdateAlertResult }
  updateApiKey: { input: UpdateApiKeyInput; response: UpdateApiKeyResult }
  updateCompany: { input: UpdateCompanyInput; response: CompanyResult }
  updateComputedProperty: { input: UpdateComputedPropertyInput; response: UpdateComputedPropertyResult }
  updateConnectedApp: { input: UpdateConnectedAppInput; response: UpdateConnectedAppResult }
  updateConnection: { input: UpdateConnectionInput; response: ConnectionResult }
  updateContact: { input: UpdateContactInput; response: ContactResult }
  updateDashboard: { input: UpdateDashboardInput; response: UpdateDashboardResult }
  updateEnrichment: { input: UpdateEnrichmentInput; response: EnrichmentResult }
  updateHook: { input: UpdateHookInput; response: UpdateHookResult }
  updateIdentity: { input: UpdateIdentityInput; response: IdentityResult }
  updateMember: { input: UpdateMemberInput; response: MemberResult }
  updateNote: { input: UpdateNoteInput; response: NoteResult }
  updateReport: { input: UpdateReportInput; response: UpdateReportResult }
  updateSegment: { input: UpdateSegmentInput; response: UpdateSegmentResult }
  updateSource: { input: UpdateSourceInput; response: UpdateSourceResult }
  updateTenant: { input: UpdateTenantInput; response: UpdateTenantResult }
  updateWarehouseDestination: { input: UpdateWarehouseDestinationInput; response: UpdateWarehouseDestinationResult }
  updateWebhook: { input: UpdateWebhookInput; response: UpdateWebhookResult }
  uploadImport: { input: UploadImportInput; response: ImportResult }
  verifyDomain: { input: VerifyDomainInput; response: VerifyDomainResult }
  writeContactsBack: { input: WriteContactsBackInput; response: WriteContactsBackResult }
}

/** A method for each operation of the API, under its name in the API reference. */
export class Operations extends Caller {
  /**
   * Add a domain, to be verified with a TXT record, a file or a meta tag.
   *
   * A domain that was added before is returned unchanged. While the service runs on a local URL, `localhost` and other names of the same machine are verified at once. Needs the scope `settings:write`.
   */
  addDomain(input: AddDomainInput, options?: RequestOptions): Promise<DomainResult> {
    return this.call('POST /v1/domains', input, options)
  }

  /**
   * Suppress an address, so that no more mail is sent to it.
   *
   * An address that is already suppressed is left unchanged. Needs the scope `identities:write`.
   */
  addSuppression(input: AddSuppressionInput, options?: RequestOptions): Promise<AddSuppressionResult> {
    return this.call('POST /v1/suppressions', input, options)
  }

  /**
   * Group contacts, companies or events, and compute a figure for each group.
   *
   * Buckets are sorted by value, highest first; for hours, days, weeks and months, the most recent ones are returned in chronological order. Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on the entity. Also needs the scope `contacts:read` to group events by `contact.<key>`, and for `people`. Also needs the scope `companies:read` for `company.<key>` of events or contacts.
   */
  aggregate(input: AggregateInput, options?: RequestOptions): Promise<AggregateResult> {
    return this.call('POST /v1/aggregate', input, options)
  }

  /**
   * Approve a proposed action; it is then queued for execution.
   *
   * Needs the scope `agents:approve`. Also needs the scope `contacts:write` for a note or an update of properties.
   */
  approveAction(input: ApproveActionInput, options?: RequestOptions): Promise<ActionResult> {
    return this.call('POST /v1/agents/runs/{run_id}/contacts/{contact_id}/actions/{action_index}/approve', input, options)
  }

  /**
   * Approve several proposed actions independently.
   *
   * If an action cannot be approved, its decision has an `error`, and the others are not affected. Only a missing scope refuses them all. Needs the scope `agents:approve`. Also needs the scope `contacts:write` for a note or an update of properties.
   */
  approveActions(input: ApproveActionsInput, options?: RequestOptions): Promise<ApproveActionsResult> {
    return this.call('POST /v1/approvals/approve', input, options)
  }

  /**
   * Ask a question about the data.
   *
   * The configured model answers with the read-only tools of the MCP server, within the caller’s scopes. It sees pseudonyms in place of personal values; the answer has the real ones. The cost counts towards the monthly cap, and the audit log has an entry. If a request is interrupted, a retry asks the model again, at a cost. Needs the scope `agents:trigger`.
   */
  ask(input: AskInput, options?: RequestOptions): Promise<AskResult> {
    return this.call('POST /v1/ask', input, options)
  }

  /**
   * Get the latest events of several contacts.
   *
   * Needs the scope `contacts:read`.
   */
  batchActivity(input: BatchActivityInput, options?: RequestOptions): Promise<BatchActivityResult> {
    return this.call('POST /v1/batch/activity', input, options)
  }

  /**
   * Get several contacts or companies.
   *
   * Needs the scope `contacts:read`.
   */
  batchDetails(input: BatchDetailsInput, options?: RequestOptions): Promise<BatchDetailsResult> {
    return this.call('POST /v1/batch/details', input, options)
  }

  /**
   * Get when several contacts were last seen, and how often they visited.
   *
   * Needs the scope `contacts:read`.
   */
  batchEngagement(input: BatchEngagementInput, options?: RequestOptions): Promise<BatchEngagementResult> {
    return this.call('POST /v1/batch/engagement', input, options)
  }

  /**
   * Cancel an import; what it has written stays until it is undone.
   *
   * Needs the scope `contacts:write`.
   */
  cancelImport(input: CancelImportInput, options?: RequestOptions): Promise<CancelImportResult> {
    return this.call('POST /v1/imports/{import_id}/cancel', input, options)
  }

  /**
   * Cancel a run that is queued or running; its proposed actions stay.
   *
   * Needs the scope `agents:trigger`.
   */
  cancelRun(input: CancelRunInput, options?: RequestOptions): Promise<RunResult> {
    return this.call('POST /v1/agents/runs/{run_id}/cancel', input, options)
  }

  /**
   * Change or delete many companies.
   *
   * Every record is changed as by a request of its own: the same checks, events and webhooks. With `matching`, a call changes 100 records at most, in the order of their ids; repeat it with `after` until `next` is null. A record that fails is listed in `failed`, and the others are changed. If a request with an Idempotency-Key is interrupted, a retry changes the same records again: values that others have written in between are replaced, and of the ids that you sent, those that the first request deleted are listed in `failed`. Needs the scope `companies:write`. Also needs the scope `companies:read` with `matching`. Also needs the scope `events:read` with event conditions in the filter.
   */
  changeCompanies(input: ChangeCompaniesInput = {}, options?: RequestOptions): Promise<ChangeCompaniesResult> {
    return this.call('POST /v1/companies/bulk', input, options)
  }

  /**
   * Change or delete many contacts.
   *
   * Every record is changed as by a request of its own: the same checks, events and webhooks. With `matching`, a call changes 100 records at most, in the order of their ids; repeat it with `after` until `next` is null. A record that fails is listed in `failed`, and the others are changed. If a request with an Idempotency-Key is interrupted, a retry changes the same records again: values that others have written in between are replaced, and of the ids that you sent, those that the first request deleted are listed in `failed`. Needs the scope `contacts:write`. Also needs the scope `contacts:read` with `matching`. Also needs the scope `events:read` with event conditions in the filter.
   */
  changeContacts(input: ChangeContactsInput = {}, options?: RequestOptions): Promise<ChangeContactsResult> {
    return this.call('POST /v1/contacts/bulk', input, options)
  }

  /**
   * Log in to the servers of an email account; nothing is sent.
   *
   * If a server rejects the login, `connected` is false and `error` contains its reply. If a request is interrupted, a retry logs in again. Needs the scope `identities:write`.
   */
  checkEmailAccount(input: CheckEmailAccountInput, options?: RequestOptions): Promise<EmailAccountResult> {
    return this.call('POST /v1/identities/{identity_id}/email-account/check', input, options)
  }

  /**
   * Find the unknown variables of a playbook.
   *
   * Needs the scope `agents:read`.
   */
  checkPlaybook(input: CheckPlaybookInput, options?: RequestOptions): Promise<CheckPlaybookResult> {
    return this.call('POST /v1/playbooks/check', input, options)
  }

  /**
   * Close the tenant, and delete it after 7 days or at once.
   *
   * Only for an owner who is signed in, and for the operator on the command line. From then on, keys, members, pages, hooks, webhooks and everything in the background are refused or stopped; owners can export, reopen or delete it. After 7 days, everything is deleted, which cannot be undone. Export the data first. A repeated request changes nothing, unless it has `now`. Needs the scope `settings:write`.
   */
  closeTenant(input: CloseTenantInput, options?: RequestOptions): Promise<CloseTenantResult> {
    return this.call('DELETE /v1/tenant', input, options)
  }

  /**
   * Complete a sign-in with the parameters of the redirect URL.
   *
   * The dashboard does this on the page that the provider redirects to. Pass on an `error` too, so that the sign-in ends. Also needs the scopes of the purpose, as when it was started. A sign-in is completed at most once: if a request is interrupted, a retry returns 409 `authorization_used`. Needs the scope `settings:read`.
   */
  completeAuthorization(input: CompleteAuthorizationInput, options?: RequestOptions): Promise<CompleteAuthorizationResult> {
    return this.call('POST /v1/authorizations/complete', input, options)
  }

  /**
   * Create an agent.
   *
   * Needs the scope `agents:write`. Also needs the scopes `contacts:read` and `events:read` for an agent with a `monitoring.filter` or `monitoring.triggers`. Also needs the scope `contacts:write` for an agent with a capability that writes to contacts: `notes` or `crm_sync`. Also needs the scope `agents:approve` for an agent with `playbook.require_approval: false`. Also needs the scopes `contacts:read`, `companies:read` and `events:read` for an agent with `llm_config.base_url`. Also needs the scope `events:read` for an agent with a `goal`.
   */
  createAgent(input: CreateAgentInput, options?: RequestOptions): Promise<AgentResult> {
    return this.call('POST /v1/agents', input, options)
  }

  /**
   * Watch a number of a report.
   *
   * The alert is checked at once, and then 5 minutes after each hour or day begins. It judges each interval once. It fires when its condition becomes true, and again only after it was false in between: it then records the event `alert_triggered`, and sends mails. If the report is about contacts or companies, you also need the scope `contacts:read`. Needs the scope `segments:write`. Also needs the scope `events:read`.
   */
  createAlert(input: CreateAlertInput, options?: RequestOptions): Promise<AlertResult> {
    return this.call('POST /v1/alerts', input, options)
  }

  /**
   * Create an API key, which is shown only once.
   *
   * Needs the scope `keys:write`.
   */
  createApiKey(input: CreateApiKeyInput, options?: RequestOptions): Promise<CreateApiKeyResult> {
    return this.call('POST /v1/api-keys', input, options)
  }

  /**
   * Create a company.
   *
   * Needs the scope `companies:write`.
   */
  createCompany(input: CreateCompanyInput = {}, options?: RequestOptions): Promise<CompanyResult> {
    return this.call('POST /v1/companies', input, options)
  }

  /**
   * Have a property of contacts or companies computed.
   *
   * Send either `function` and `event`, or `score`. Existing records get their values in the background; from then on, they follow events and time within 10 seconds. Nobody else can write the property. Needs the scope `contacts:write`. Also needs the scope `events:read`. Also needs the scope `companies:write` for companies.
   */
  createComputedProperty(input: CreateComputedPropertyInput, options?: RequestOptions): Promise<ComputedPropertyResult> {
    return this.call('POST /v1/computed-properties', input, options)
  }

  /**
   * Connect a system and start pulling its data.
   *
   * The credentials are tested first. To sign in at a provider instead, start with `POST /v1/authorizations`, with the purpose `{"kind": "connection", "connector": …}`, which also has the settings, `source` and `read_since`. Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  createConnection(input: CreateConnectionInput, options?: RequestOptions): Promise<ConnectionResult> {
    return this.call('POST /v1/connections', input, options)
  }

  /**
   * Create a contact.
   *
   * Needs the scope `contacts:write`.
   */
  createContact(input: CreateContactInput, options?: RequestOptions): Promise<ContactResult> {
    return this.call('POST /v1/contacts', input, options)
  }

  /**
   * Place reports and texts side by side.
   *
   * The grid has 12 columns. Tiles may overlap: whoever shows them decides what is on top. Needs the scope `segments:write`. Also needs the scope `events:read`.
   */
  createDashboard(input: CreateDashboardInput, options?: RequestOptions): Promise<DashboardResult> {
    return this.call('POST /v1/dashboards', input, options)
  }

  /**
   * Request a file with all data of the tenant; if one is in progress, its id is returned.
   *
   * At most 5 in 24 hours. Needs the scope `data:export`.
   */
  createExport(options?: RequestOptions): Promise<CreateExportResult> {
    return this.call('POST /v1/exports', {}, options)
  }

  /**
   * Create an incoming webhook, and get the URL to enter in the sending system.
   *
   * Other systems send JSON to the URL, and the mapping turns it into records of the source. A ready-made kind has a mapping and checks the sender's signature. Without `signing_secret`, it is off until you add one, because some senders show their secret only after you enter the URL. Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  createHook(input: CreateHookInput, options?: RequestOptions): Promise<CreateHookResult> {
    return this.call('POST /v1/hooks', input, options)
  }

  /**
   * Create an identity.
   *
   * Needs the scope `identities:write`.
   */
  createIdentity(input: CreateIdentityInput, options?: RequestOptions): Promise<IdentityResult> {
    return this.call('POST /v1/identities', input, options)
  }

  /**
   * Invite a person with a link that is valid for a week.
   *
   * Replaces an earlier invitation to the same address. Only an owner can invite owners. An API key can only invite to roles whose scopes it has in full, and never to `owner`. Needs the scope `settings:write`.
   */
  createInvitation(input: CreateInvitationInput, options?: RequestOptions): Promise<CreateInvitationResult> {
    return this.call('POST /v1/invitations', input, options)
  }

  /**
   * Add a note to a contact.
   *
   * Needs the scope `contacts:write`.
   */
  createNote(input: CreateNoteInput, options?: RequestOptions): Promise<NoteResult> {
    return this.call('POST /v1/contacts/{contact_id}/notes', input, options)
  }

  /**
   * Save a question under a name.
   *
   * The question is asked once before it is saved, so that a question without an answer is an error. If it is about contacts or companies, you also need the scope `contacts:read`. Needs the scope `segments:write`. Also needs the scope `events:read`.
   */
  createReport(input: CreateReportInput, options?: RequestOptions): Promise<ReportResult> {
    return this.call('POST /v1/reports', input, options)
  }

  /**
   * Define a segment; its members are counted in the background.
   *
   * Needs the scope `segments:write`. Also needs the scope `contacts:read` for contacts. Also needs the scope `companies:read` for companies. Also needs the scope `events:read` with event conditions in `filter`.
   */
  createSegment(input: CreateSegmentInput, options?: RequestOptions): Promise<SegmentResult> {
    return this.call('POST /v1/segments', input, options)
  }

  /**
   * Create a source with a write key, which is shown only once.
   *
   * A `browser` key is public: it works only on pages of your verified domains, and what it says of contacts is unverified. A `server` key is secret: keep it out of pages and apps; what it says is verified. Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write` for a server source.
   */
  createSource(input: CreateSourceInput, options?: RequestOptions): Promise<CreateSourceResult> {
    return this.call('POST /v1/sources', input, options)
  }

  /**
   * Save the filters, order and columns of a list as a view.
   *
   * Needs the scope `views:write`.
   */
  createView(input: CreateViewInput, options?: RequestOptions): Promise<SavedViewResult> {
    return this.call('POST /v1/views', input, options)
  }

  /**
   * Create a destination for exports of events, contacts and companies as Parquet files.
   *
   * The location of the files cannot be changed later. Needs the scope `data:export`. Also needs the scopes `settings:write`, `contacts:read`, `companies:read` and `events:read`.
   */
  createWarehouseDestination(input: CreateWarehouseDestinationInput, options?: RequestOptions): Promise<WarehouseDestinationResult> {
    return this.call('POST /v1/warehouse', input, options)
  }

  /**
   * Subscribe a URL to an event type; the signing secret is shown this once.
   *
   * Needs the scope `webhooks:write`. Also needs the scopes `contacts:read` and `events:read`.
   */
  createWebhook(input: CreateWebhookInput, options?: RequestOptions): Promise<CreateWebhookResult> {
    return this.call('POST /v1/webhooks', input, options)
  }

  /**
   * Delete an agent with its runs.
   *
   * Needs the scope `agents:write`.
   */
  deleteAgent(input: DeleteAgentInput, options?: RequestOptions): Promise<DeleteAgentResult> {
    return this.call('DELETE /v1/agents/{agent_id}', input, options)
  }

  /**
   * Delete an alert; its report stays.
   *
   * Needs the scope `segments:write`.
   */
  deleteAlert(input: DeleteAlertInput, options?: RequestOptions): Promise<DeleteAlertResult> {
    return this.call('DELETE /v1/alerts/{alert_id}', input, options)
  }

  /**
   * Delete a company; its contacts remain.
   *
   * Needs the scope `companies:write`.
   */
  deleteCompany(input: DeleteCompanyInput, options?: RequestOptions): Promise<DeleteCompanyResult> {
    return this.call('DELETE /v1/companies/{company_id}', input, options)
  }

  /**
   * Delete a computed property; its values are removed in the background.
   *
   * Needs the scope `contacts:write`. Also needs the scope `companies:write` for companies.
   */
  deleteComputedProperty(input: DeleteComputedPropertyInput, options?: RequestOptions): Promise<DeleteComputedPropertyResult> {
    return this.call('DELETE /v1/computed-properties/{computed_property_id}', input, options)
  }

  /**
   * Disconnect a system and delete its credentials; the data that it wrote stays.
   *
   * Needs the scope `settings:write`.
   */
  deleteConnection(input: DeleteConnectionInput, options?: RequestOptions): Promise<DeleteConnectionResult> {
    return this.call('DELETE /v1/connections/{connection_id}', input, options)
  }

  /**
   * Delete a contact and its notes; its events remain.
   *
   * Needs the scope `contacts:write`.
   */
  deleteContact(input: DeleteContactInput, options?: RequestOptions): Promise<DeleteContactResult> {
    return this.call('DELETE /v1/contacts/{contact_id}', input, options)
  }

  /**
   * Delete a dashboard; its reports stay.
   *
   * Needs the scope `segments:write`.
   */
  deleteDashboard(input: DeleteDashboardInput, options?: RequestOptions): Promise<DeleteDashboardResult> {
    return this.call('DELETE /v1/dashboards/{dashboard_id}', input, options)
  }

  /**
   * Delete an incoming webhook with its kept bodies: its URL stops working at once.
   *
   * The records that it wrote stay. Needs the scope `settings:write`.
   */
  deleteHook(input: DeleteHookInput, options?: RequestOptions): Promise<DeleteHookResult> {
    return this.call('DELETE /v1/hooks/{hook_id}', input, options)
  }

  /**
   * Delete an identity with its email account; agents that used it lose their default.
   *
   * Needs the scope `identities:write`.
   */
  deleteIdentity(input: DeleteIdentityInput, options?: RequestOptions): Promise<DeleteIdentityResult> {
    return this.call('DELETE /v1/identities/{identity_id}', input, options)
  }

  /**
   * Delete an invitation: its link stops working.
   *
   * Needs the scope `settings:write`.
   */
  deleteInvitation(input: DeleteInvitationInput, options?: RequestOptions): Promise<DeleteInvitationResult> {
    return this.call('DELETE /v1/invitations/{invitation_id}', input, options)
  }

  /**
   * Delete a note.
   *
   * Needs the scope `contacts:write`.
   */
  deleteNote(input: DeleteNoteInput, options?: RequestOptions): Promise<DeleteNoteResult> {
    return this.call('DELETE /v1/contacts/{contact_id}/notes/{note_id}', input, options)
  }

  /**
   * Delete the OAuth client at a provider: sign-ins made with it stop working when their access tokens expire.
   *
   * Needs the scope `settings:write`.
   */
  deleteOAuthClient(input: DeleteOAuthClientInput, options?: RequestOptions): Promise<DeleteOAuthClientResult> {
    return this.call('DELETE /v1/oauth-clients/{provider}', input, options)
  }

  /**
   * Delete a report that no dashboard and no alert uses.
   *
   * Needs the scope `segments:write`.
   */
  deleteReport(input: DeleteReportInput, options?: RequestOptions): Promise<DeleteReportResult> {
    return this.call('DELETE /v1/reports/{report_id}', input, options)
  }

  /**
   * Delete a segment; its contacts stay.
   *
   * Needs the scope `segments:write`.
   */
  deleteSegment(input: DeleteSegmentInput, options?: RequestOptions): Promise<DeleteSegmentResult> {
    return this.call('DELETE /v1/segments/{segment_id}', input, options)
  }

  /**
   * Delete a source: its write keys stop working at once.
   *
   * What it sent remains. A connector is listed again when it next writes. Needs the scope `settings:write`.
   */
  deleteSource(input: DeleteSourceInput, options?: RequestOptions): Promise<DeleteSourceResult> {
    return this.call('DELETE /v1/sources/{source_id}', input, options)
  }

  /**
   * Delete a saved view.
   *
   * Needs the scope `views:write`.
   */
  deleteView(input: DeleteViewInput, options?: RequestOptions): Promise<DeleteViewResult> {
    return this.call('DELETE /v1/views/{view_id}', input, options)
  }

  /**
   * Delete an export destination with its list of runs; exported files stay.
   *
   * Needs the scope `data:export`. Also needs the scope `settings:write`.
   */
  deleteWarehouseDestination(input: DeleteWarehouseDestinationInput, options?: RequestOptions): Promise<DeleteWarehouseDestinationResult> {
    return this.call('DELETE /v1/warehouse/{destination_id}', input, options)
  }

  /**
   * Delete a webhook subscription with its deliveries.
   *
   * Needs the scope `webhooks:write`.
   */
  deleteWebhook(input: DeleteWebhookInput, options?: RequestOptions): Promise<DeleteWebhookResult> {
    return this.call('DELETE /v1/webhooks/{subscription_id}', input, options)
  }

  /**
   * Say that two contacts are two people; the pair is never suggested again.
   *
   * Needs the scope `contacts:write`.
   */
  dismissDuplicate(input: DismissDuplicateInput, options?: RequestOptions): Promise<DismissDuplicateResult> {
    return this.call('POST /v1/duplicates/{duplicate_id}/dismiss', input, options)
  }

  /**
   * Download the file of an export.
   *
   * The audit log records each download. Needs the scope `data:export`.
   */
  downloadExport(input: DownloadExportInput, options?: RequestOptions): Promise<Response> {
    return this.call('GET /v1/exports/{export_id}/file', input, options, 'file')
  }

  /**
   * Download the failed rows of an import as a CSV file.
   *
   * Correct the rows and import the file again. The audit log records each download. Needs the scope `contacts:write`. Also needs the scope `contacts:read`.
   */
  downloadFailedRows(input: DownloadFailedRowsInput, options?: RequestOptions): Promise<Response> {
    return this.call('GET /v1/imports/{import_id}/failed.csv', input, options, 'file')
  }

  /**
   * Evaluate up to three contacts with the settings of an agent, without storing the agent or its proposals.
   *
   * Takes the fields of a new agent. The contacts are evaluated as in a run, and the response has its proposals, with the results of the guardrails. If a model is called, its cost counts towards the caps, and the audit log has an entry. If a request is interrupted, a retry calls the model again, at a cost. Needs the scope `agents:write`. Also needs the scopes `agents:trigger`, `contacts:read` and `events:read`. Also needs the scopes `contacts:read`, `companies:read` and `events:read` with `llm_config.base_url`.
   */
  dryRunAgent(input: DryRunAgentInput, options?: RequestOptions): Promise<DryRunResult> {
    return this.call('POST /v1/agents/dry-run', input, options)
  }

  /**
   * Enrich a contact now.
   *
   * Asks every enricher that is on. Only blanks are filled. Again without news, it changes nothing, so a retry after an interrupted request is harmless. Needs the scope `contacts:write`.
   */
  enrichContact(input: EnrichContactInput, options?: RequestOptions): Promise<ContactEnrichmentResult> {
    return this.call('POST /v1/contacts/{contact_id}/enrich', input, options)
  }

  /**
   * Erase a contact and everything about it, which cannot be undone.
   *
   * Also erases the contacts that were merged into it. The receipt is `running` if the erasure takes more than a few seconds; read it again until it is `verified`. A repeated request returns the same receipt. Needs the scope `data:erase`.
   */
  eraseContact(input: EraseContactInput, options?: RequestOptions): Promise<ErasureReceiptResult> {
    return this.call('POST /v1/erasures', input, options)
  }

  /**
   * Download companies as a CSV file.
   *
   * Every matching record, with the filters of the list. Sorting, paging and `fields` have no effect. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe. A `filter` with event conditions also needs the scope `events:read`. Needs the scope `companies:read`.
   */
  exportCompanies(input: ExportCompaniesInput = {}, options?: RequestOptions): Promise<Response> {
    return this.call('GET /v1/companies/export.csv', input, options, 'file')
  }

  /**
   * Download contacts as a CSV file.
   *
   * Every matching record, with the filters of the list. Sorting, paging and `fields` have no effect. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe. `has_event_*` filters, and a `filter` with event conditions, also need the scope `events:read`. Needs the scope `contacts:read`.
   */
  exportContacts(input: ExportContactsInput = {}, options?: RequestOptions): Promise<Response> {
    return this.call('GET /v1/contacts/export.csv', input, options, 'file')
  }

  /**
   * Download events as a CSV file.
   *
   * Every matching record, with the filters of the list. Sorting, paging and `fields` have no effect. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe. Needs the scope `events:read`.
   */
  exportEvents(input: ExportEventsInput = {}, options?: RequestOptions): Promise<Response> {
    return this.call('GET /v1/events/export.csv', input, options, 'file')
  }

  /**
   * Download the answer of a report as a CSV file.
   *
   * A trend has a line for each series and interval, and one without an interval for the total of the series. The properties of a breakdown are columns, and `is_others` says that a line is about all other values together; with `compare`, `is_compared` says that a line is of the compared range. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe. If the question is about contacts or companies, you also need the scope `contacts:read`. The audit log records each download. Needs the scope `events:read`.
   */
  exportReport(input: ExportReportInput, options?: RequestOptions): Promise<Response> {
    return this.call('GET /v1/reports/{report_id}/export.csv', input, options, 'file')
  }

  /**
   * Get a proposed action with its status and result.
   *
   * Needs the scope `agents:read`.
   */
  getAction(input: GetActionInput, options?: RequestOptions): Promise<ActionResult> {
    return this.call('GET /v1/agents/runs/{run_id}/contacts/{contact_id}/actions/{action_index}', input, options)
  }

  /**
   * Get an agent.
   *
   * Needs the scope `agents:read`.
   */
  getAgent(input: GetAgentInput, options?: RequestOptions): Promise<AgentResult> {
    return this.call('GET /v1/agents/{agent_id}', input, options)
  }

  /**
   * Count what became of the proposals of an agent, by version of its playbook, newest first.
   *
   * Each change of what the playbook says is a version. What a contact does within 14 days after a message counts for every message that was sent to it in that time. Actions that others proposed for the agent do not count. Needs the scope `agents:read`.
   */
  getAgentOutcomes(input: GetAgentOutcomesInput, options?: RequestOptions): List<GetAgentOutcomesResult, NonNullable<GetAgentOutcomesResult['outcomes']>[number]> {
    return this.list('GET /v1/agents/{agent_id}/outcomes', input, options, 'outcomes', 'page')
  }

  /**
   * Get a run with the results of its first 25 contacts.
   *
   * Needs the scope `agents:read`.
   */
  getAgentRun(input: GetAgentRunInput, options?: RequestOptions): Promise<RunDetailResult> {
    return this.call('GET /v1/agents/runs/{run_id}', input, options)
  }

  /**
   * Get the tenant's rules for all its agents.
   *
   * Needs the scope `agents:read`.
   */
  getAgentSettings(options?: RequestOptions): Promise<GetAgentSettingsResult> {
    return this.call('GET /v1/agent-settings', {}, options)
  }

  /**
   * Get an alert.
   *
   * Needs the scope `events:read`.
   */
  getAlert(input: GetAlertInput, options?: RequestOptions): Promise<AlertResult> {
    return this.call('GET /v1/alerts/{alert_id}', input, options)
  }

  /**
   * Get an API key, without the key itself.
   *
   * Needs the scope `keys:write`.
   */
  getApiKey(input: GetApiKeyInput, options?: RequestOptions): Promise<ApiKeyResult> {
    return this.call('GET /v1/api-keys/{key_id}', input, options)
  }

  /**
   * Get the model that answers questions.
   *
   * Needs the scope `agents:read`.
   */
  getAskModel(options?: RequestOptions): Promise<GetAskModelResult> {
    return this.call('GET /v1/ask', {}, options)
  }

  /**
   * Get an entry of the audit log.
   *
   * Needs the scope `audit:read`.
   */
  getAuditEntry(input: GetAuditEntryInput, options?: RequestOptions): Promise<AuditLogEntryResult> {
    return this.call('GET /v1/audit-log/{entry_id}', input, options)
  }

  /**
   * Get a company.
   *
   * Needs the scope `companies:read`.
   */
  getCompany(input: GetCompanyInput, options?: RequestOptions): Promise<CompanyResult> {
    return this.call('GET /v1/companies/{company_id}', input, options)
  }

  /**
   * Get when a company's contacts were last seen, how often they visited, their favorite pages, and the most active of them.
   *
   * If the company has more than 1,000 contacts, only the newest 1,000 count. Needs the scope `companies:read`. Also needs the scopes `contacts:read` and `events:read`.
   */
  getCompanyEngagement(input: GetCompanyEngagementInput, options?: RequestOptions): Promise<GetCompanyEngagementResult> {
    return this.call('GET /v1/companies/{company_id}/engagement', input, options)
  }

  /**
   * Get a computed property.
   *
   * Needs the scope `contacts:read`.
   */
  getComputedProperty(input: GetComputedPropertyInput, options?: RequestOptions): Promise<ComputedPropertyResult> {
    return this.call('GET /v1/computed-properties/{computed_property_id}', input, options)
  }

  /**
   * Get an application that acts for a person.
   *
   * Needs the scope `settings:read`.
   */
  getConnectedApp(input: GetConnectedAppInput, options?: RequestOptions): Promise<ConnectedAppResult> {
    return this.call('GET /v1/connected-apps/{grant_id}', input, options)
  }

  /**
   * Get a connected system with its state, its progress and its last run.
   *
   * Needs the scope `settings:read`.
   */
  getConnection(input: GetConnectionInput, options?: RequestOptions): Promise<ConnectionResult> {
    return this.call('GET /v1/connections/{connection_id}', input, options)
  }

  /**
   * Get a connector, with the credentials and settings that it needs.
   *
   * Needs the scope `settings:read`.
   */
  getConnector(input: GetConnectorInput, options?: RequestOptions): Promise<ConnectorResult> {
    return this.call('GET /v1/connectors/{connector}', input, options)
  }

  /**
   * Get a contact with its unified profile and latest events.
   *
   * Needs the scope `contacts:read`.
   */
  getContact(input: GetContactInput, options?: RequestOptions): Promise<GetContactResult> {
    return this.call('GET /v1/contacts/{contact_id}', input, options)
  }

  /**
   * Get when a contact was last seen, how often they visited, and their favorite pages.
   *
   * The contact's anonymous past counts. `POST /v1/batch/engagement` returns the figures of many contacts. Needs the scope `contacts:read`.
   */
  getContactEngagement(input: GetContactEngagementInput, options?: RequestOptions): Promise<GetContactEngagementResult> {
    return this.call('GET /v1/contacts/{contact_id}/engagement', input, options)
  }

  /**
   * Get what enrichment filled in a contact, and from what.
   *
   * Needs the scope `contacts:read`.
   */
  getContactEnrichment(input: GetContactEnrichmentInput, options?: RequestOptions): Promise<ContactEnrichmentResult> {
    return this.call('GET /v1/contacts/{contact_id}/enrich', input, options)
  }

  /**
   * Get a conversation of a contact with its messages, newest first.
   *
   * `page` and `limit` apply to messages. Needs the scope `contacts:read`.
   */
  getConversation(input: GetConversationInput, options?: RequestOptions): Promise<GetConversationResult> {
    return this.call('GET /v1/contacts/{contact_id}/conversations/{thread_id}', input, options)
  }

  /**
   * Get a dashboard, without the answers of its reports.
   *
   * Needs the scope `events:read`.
   */
  getDashboard(input: GetDashboardInput, options?: RequestOptions): Promise<GetDashboardResult> {
    return this.call('GET /v1/dashboards/{dashboard_id}', input, options)
  }

  /**
   * Get a domain.
   *
   * Needs the scope `settings:read`.
   */
  getDomain(input: GetDomainInput, options?: RequestOptions): Promise<DomainResult> {
    return this.call('GET /v1/domains/{domain_id}', input, options)
  }

  /**
   * Get the email account of an identity, without its secrets.
   *
   * Needs the scope `identities:read`.
   */
  getEmailAccount(input: GetEmailAccountInput, options?: RequestOptions): Promise<EmailAccountResult> {
    return this.call('GET /v1/identities/{identity_id}/email-account', input, options)
  }

  /**
   * Get which enrichers are on.
   *
   * Needs the scope `settings:read`.
   */
  getEnrichment(options?: RequestOptions): Promise<EnrichmentResult> {
    return this.call('GET /v1/enrichment', {}, options)
  }

  /**
   * Get the receipt of an erasure.
   *
   * Needs the scope `data:erase`.
   */
  getErasure(input: GetErasureInput, options?: RequestOptions): Promise<ErasureReceiptResult> {
    return this.call('GET /v1/erasures/{erasure_id}', input, options)
  }

  /**
   * Get one event with its contact and company.
   *
   * Needs the scope `events:read`.
   */
  getEvent(input: GetEventInput, options?: RequestOptions): Promise<EventResult> {
    return this.call('GET /v1/events/{event_id}', input, options)
  }

  /**
   * Count events by type, domain and day.
   *
   * Needs the scope `events:read`.
   */
  getEventStats(input: GetEventStatsInput = {}, options?: RequestOptions): Promise<GetEventStatsResult> {
    return this.call('GET /v1/events/stats', input, options)
  }

  /**
   * Get an export's progress and, once it is ready, the URL of its file.
   *
   * Needs the scope `data:export`.
   */
  getExport(input: GetExportInput, options?: RequestOptions): Promise<ExportResult> {
    return this.call('GET /v1/exports/{export_id}', input, options)
  }

  /**
   * Get an incoming webhook, without its token.
   *
   * Needs the scope `settings:read`.
   */
  getHook(input: GetHookInput, options?: RequestOptions): Promise<HookResult> {
    return this.call('GET /v1/hooks/{hook_id}', input, options)
  }

  /**
   * Get a body of an incoming webhook with its content.
   *
   * Needs the scope `settings:read`. Also needs the scopes `contacts:read`, `companies:read` and `events:read`.
   */
  getHookBody(input: GetHookBodyInput, options?: RequestOptions): Promise<GetHookBodyResult> {
    return this.call('GET /v1/hooks/{hook_id}/bodies/{body_id}', input, options)
  }

  /**
   * Get an identity; its credentials are never returned.
   *
   * Needs the scope `identities:read`.
   */
  getIdentity(input: GetIdentityInput, options?: RequestOptions): Promise<IdentityResult> {
    return this.call('GET /v1/identities/{identity_id}', input, options)
  }

  /**
   * Get the email account, the agents and the last social login of an identity.
   *
   * Needs the scope `identities:read`.
   */
  getIdentityConnections(input: GetIdentityConnectionsInput, options?: RequestOptions): Promise<IdentityConnectionsResult> {
    return this.call('GET /v1/identities/{identity_id}/connections', input, options)
  }

  /**
   * Get an import's state, progress, columns, counts and first errors.
   *
   * Needs the scope `contacts:write`.
   */
  getImport(input: GetImportInput, options?: RequestOptions): Promise<ImportResult> {
    return this.call('GET /v1/imports/{import_id}', input, options)
  }

  /**
   * Get what an import would do: the counts, how many contacts get no more mail, and the first 20 rows with each property before and after.
   *
   * Needs the scope `contacts:write`. Also needs the scope `contacts:read`.
   */
  getImportPreview(input: GetImportPreviewInput, options?: RequestOptions): Promise<GetImportPreviewResult> {
    return this.call('GET /v1/imports/{import_id}/preview', input, options)
  }

  /**
   * Get a pending invitation.
   *
   * Needs the scope `settings:read`.
   */
  getInvitation(input: GetInvitationInput, options?: RequestOptions): Promise<InvitationResult> {
    return this.call('GET /v1/invitations/{invitation_id}', input, options)
  }

  /**
   * Get the rate limits and the tenant's usage.
   *
   * Needs the scope `settings:read`.
   */
  getLimits(options?: RequestOptions): Promise<GetLimitsResult> {
    return this.call('GET /v1/limits', {}, options)
  }

  /**
   * Get the mailbox of an identity and its state.
   *
   * Needs the scope `identities:read`.
   */
  getMailbox(input: GetMailboxInput, options?: RequestOptions): Promise<MailboxResult> {
    return this.call('GET /v1/mailboxes/{identity_id}', input, options)
  }

  /**
   * Get a member.
   *
   * Needs the scope `settings:read`.
   */
  getMember(input: GetMemberInput, options?: RequestOptions): Promise<MemberResult> {
    return this.call('GET /v1/members/{user_id}', input, options)
  }

  /**
   * Get a note of a contact.
   *
   * Needs the scope `contacts:read`.
   */
  getNote(input: GetNoteInput, options?: RequestOptions): Promise<NoteResult> {
    return this.call('GET /v1/contacts/{contact_id}/notes/{note_id}', input, options)
  }

  /**
   * Get the workspace's OAuth client at a provider; its secret is never returned.
   *
   * Needs the scope `settings:read`.
   */
  getOAuthClient(input: GetOAuthClientInput, options?: RequestOptions): Promise<OAuthClientResult> {
    return this.call('GET /v1/oauth-clients/{provider}', input, options)
  }

  /**
   * Get the figures of a range of days and of the preceding range of the same length.
   *
   * Events from bots are not counted. Of a range with a million events, pages, sources and contacts may be a minute old. Needs the scope `events:read`.
   */
  getOverview(input: GetOverviewInput = {}, options?: RequestOptions): Promise<GetOverviewResult> {
    return this.call('GET /v1/overview', input, options)
  }

  /**
   * Get a playbook template.
   *
   * Needs the scope `agents:read`.
   */
  getPlaybook(input: GetPlaybookInput, options?: RequestOptions): Promise<PlaybookTemplateResult> {
    return this.call('GET /v1/playbooks/{playbook}', input, options)
  }

  /**
   * Get what a version of an agent’s playbook says.
   *
   * Needs the scope `agents:read`.
   */
  getPlaybookVersion(input: GetPlaybookVersionInput, options?: RequestOptions): Promise<PlaybookVersionResult> {
    return this.call('GET /v1/agents/{agent_id}/playbook-versions/{version}', input, options)
  }

  /**
   * Get a property of contacts, companies or events.
   *
   * Knows only what `GET /v1/properties` lists. Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on `entity`.
   */
  getProperty(input: GetPropertyInput, options?: RequestOptions): Promise<PropertyResult> {
    return this.call('GET /v1/properties/{property}', input, options)
  }

  /**
   * Get a report, without its answer.
   *
   * Needs the scope `events:read`.
   */
  getReport(input: GetReportInput, options?: RequestOptions): Promise<ReportResult> {
    return this.call('GET /v1/reports/{report_id}', input, options)
  }

  /**
   * Get a segment, without its members.
   *
   * Needs the scope `segments:read`.
   */
  getSegment(input: GetSegmentInput, options?: RequestOptions): Promise<SegmentResult> {
    return this.call('GET /v1/segments/{segment_id}', input, options)
  }

  /**
   * Get how many contacts a segment had on each day, and how many entered and left.
   *
   * Needs the scope `segments:read`.
   */
  getSegmentGrowth(input: GetSegmentGrowthInput, options?: RequestOptions): Promise<GetSegmentGrowthResult> {
    return this.call('GET /v1/segments/{segment_id}/growth', input, options)
  }

  /**
   * Get a source, without its write key.
   *
   * Needs the scope `settings:read`.
   */
  getSource(input: GetSourceInput, options?: RequestOptions): Promise<SourceResult> {
    return this.call('GET /v1/sources/{source_id}', input, options)
  }

  /**
   * Get the reason why an address is suppressed; 404 if it is not.
   *
   * Needs the scope `contacts:read`.
   */
  getSuppression(input: GetSuppressionInput, options?: RequestOptions): Promise<SuppressionResult> {
    return this.call('GET /v1/suppressions/{address}', input, options)
  }

  /**
   * Get the tenant.
   *
   * Needs the scope `settings:read`.
   */
  getTenant(options?: RequestOptions): Promise<TenantResult> {
    return this.call('GET /v1/tenant', {}, options)
  }

  /**
   * List visits, and the events outside visits, the latest first.
   *
   * The events outside visits are those without a session and, with `include=system`, system events. Without `date_after` and without a contact, company, visitor or session, the 28 days before `date_before` are listed. Needs the scope `events:read`.
   */
  getTimeline(input: GetTimelineInput = {}, options?: RequestOptions): List<GetTimelineResult, NonNullable<GetTimelineResult['items']>[number]> {
    return this.list('GET /v1/timeline', input, options, 'items', 'page')
  }

  /**
   * Get the tracker snippet for a site's pages, and the first and last event received from them.
   *
   * Needs the scope `settings:read`.
   */
  getTracker(options?: RequestOptions): Promise<GetTrackerResult> {
    return this.call('GET /v1/tracker', {}, options)
  }

  /**
   * Get a saved view.
   *
   * Needs the scope `settings:read`.
   */
  getView(input: GetViewInput, options?: RequestOptions): Promise<SavedViewResult> {
    return this.call('GET /v1/views/{view_id}', input, options)
  }

  /**
   * Get a visitor: what its events say about it, and its contact.
   *
   * Its events are listed by `GET /v1/events?visitor_id=`. A visitor without events is unknown. Needs the scope `events:read`.
   */
  getVisitor(input: GetVisitorInput, options?: RequestOptions): Promise<VisitorResult> {
    return this.call('GET /v1/visitors/{visitor_id}', input, options)
  }

  /**
   * Get an export destination with its latest run.
   *
   * Needs the scope `settings:read`.
   */
  getWarehouseDestination(input: GetWarehouseDestinationInput, options?: RequestOptions): Promise<WarehouseDestinationResult> {
    return this.call('GET /v1/warehouse/{destination_id}', input, options)
  }

  /**
   * Get a run of an export destination.
   *
   * Needs the scope `settings:read`.
   */
  getWarehouseRun(input: GetWarehouseRunInput, options?: RequestOptions): Promise<WarehouseRunResult> {
    return this.call('GET /v1/warehouse/runs/{warehouse_run_id}', input, options)
  }

  /**
   * Get a webhook subscription.
   *
   * Needs the scope `webhooks:read`.
   */
  getWebhook(input: GetWebhookInput, options?: RequestOptions): Promise<WebhookResult> {
    return this.call('GET /v1/webhooks/{subscription_id}', input, options)
  }

  /**
   * Get a delivery with every attempt.
   *
   * Needs the scope `webhooks:read`. Also needs the scopes `contacts:read` and `events:read`.
   */
  getWebhookDelivery(input: GetWebhookDeliveryInput, options?: RequestOptions): Promise<WebhookDeliveryResult> {
    return this.call('GET /v1/webhooks/{subscription_id}/deliveries/{delivery_id}', input, options)
  }

  /**
   * Get the health of a webhook subscription.
   *
   * Needs the scope `webhooks:read`.
   */
  getWebhookHealth(input: GetWebhookHealthInput, options?: RequestOptions): Promise<WebhookHealthResult> {
    return this.call('GET /v1/webhooks/{subscription_id}/health', input, options)
  }

  /**
   * Whether the process is running
   */
  health(options?: RequestOptions): Promise<HealthResult> {
    return this.call('GET /v1/health', {}, options)
  }

  /**
   * Identify visitors; their earlier anonymous events become the contact's.
   *
   * Finds the contact by email, else by user_id, or creates it. Nested properties are flattened: `address: {city}` becomes `address.city`. Ids that name nobody, such as `undefined` or `null`, are ignored with the warning `ignored_id`. Returns once the earlier anonymous events of the visitors belong to the contact. Needs the scope `contacts:write`.
   */
  identify(input: IdentifyInput = {}, options?: RequestOptions): Promise<IdentifyResult> {
    return this.call('POST /v1/identify', input, options)
  }

  /**
   * Count who went through steps.
   *
   * How many people, or sessions, reached each of 2 to 10 steps, and how long it took them. A person counts once, with the attempt that reaches furthest. Needs the scope `events:read`.
   */
  insightFunnel(input: InsightFunnelInput, options?: RequestOptions): Promise<InsightFunnelResult> {
    return this.call('POST /v1/insights/funnel', input, options)
  }

  /**
   * Get the paths of sessions.
   *
   * Counts the sessions that go from one page or event to the next, at each step from the beginning of their paths or back from the end. Needs the scope `events:read`.
   */
  insightPaths(input: InsightPathsInput, options?: RequestOptions): Promise<InsightPathsResult> {
    return this.call('POST /v1/insights/paths', input, options)
  }

  /**
   * Count the people behind a number of a question, and get a filter that lists them.
   *
   * The filter lists exactly the contacts that the number counts, wherever a filter of contacts is accepted. In a segment, it is brought up to date every ten minutes. Needs the scope `events:read`. Also needs the scope `contacts:read`.
   */
  insightPeople(input: InsightPeopleInput, options?: RequestOptions): Promise<InsightPeopleResult> {
    return this.call('POST /v1/insights/people', input, options)
  }

  /**
   * Get how many people come back.
   *
   * Puts people into cohorts by when they started, and counts those who came back in each interval after. People are counted once across their devices and their anonymous past. Needs the scope `events:read`.
   */
  insightRetention(input: InsightRetentionInput, options?: RequestOptions): Promise<InsightRetentionResult> {
    return this.call('POST /v1/insights/retention', input, options)
  }

  /**
   * Get figures of events over time.
   *
   * Counts, sums and different people by hour, day, week or month, divided by properties, or combined by a formula. People are counted once across their devices and their anonymous past. Needs the scope `events:read`.
   */
  insightTrend(input: InsightTrendInput, options?: RequestOptions): Promise<InsightTrendResult> {
    return this.call('POST /v1/insights/trend', input, options)
  }

  /**
   * Get the figures of websites.
   *
   * Counts people, visits and page views, in total and by time, with the sources, campaigns, pages, places and devices of the most people, and who reached goals. People are counted once across their devices and their anonymous past. A visit that began before the range counts with its part in the range. Needs the scope `events:read`.
   */
  insightWeb(input: InsightWebInput = {}, options?: RequestOptions): Promise<InsightWebResult> {
    return this.call('POST /v1/insights/web', input, options)
  }

  /**
   * Check with the network whether an identity's session is valid (the same as social).
   *
   * Needs the scope `identities:write`.
   */
  linkedinCheck(input: LinkedinCheckInput, options?: RequestOptions): Promise<LinkedinCheckResult> {
    return this.call('GET /v1/identities/{identity_id}/linkedin/check', input, options)
  }

  /**
   * Log an identity in to the social network (the same as social).
   *
   * Needs the scope `identities:write`.
   */
  linkedinLogin(input: LinkedinLoginInput, options?: RequestOptions): Promise<LinkedinLoginResult> {
    return this.call('POST /v1/identities/{identity_id}/linkedin/login', input, options)
  }

  /**
   * Submit the two-factor code that the network requested (the same as social).
   *
   * Needs the scope `identities:write`.
   */
  linkedinLoginCode(input: LinkedinLoginCodeInput, options?: RequestOptions): Promise<LinkedinLoginCodeResult> {
    return this.call('POST /v1/identities/{identity_id}/linkedin/code/{session_id}', input, options)
  }

  /**
   * Get the status of a login; poll until it is completed or failed (the same as social).
   *
   * Needs the scope `identities:write`.
   */
  linkedinLoginStatus(input: LinkedinLoginStatusInput, options?: RequestOptions): Promise<LinkedinLoginStatusResult> {
    return this.call('GET /v1/identities/{identity_id}/linkedin/status/{session_id}', input, options)
  }

  /**
   * List the actions of an agent, newest first.
   *
   * Needs the scope `agents:read`.
   */
  listActions(input: ListActionsInput, options?: RequestOptions): List<ActionsPage, NonNullable<ActionsPage['actions']>[number]> {
    return this.list('GET /v1/agents/{agent_id}/actions', input, options, 'actions', 'page')
  }

  /**
   * List the runs of an agent, newest first.
   *
   * Needs the scope `agents:read`.
   */
  listAgentRuns(input: ListAgentRunsInput, options?: RequestOptions): List<ListAgentRunsResult, NonNullable<ListAgentRunsResult['runs']>[number]> {
    return this.list('GET /v1/agents/{agent_id}/runs', input, options, 'runs', 'offset')
  }

  /**
   * List agents, newest first.
   *
   * Needs the scope `agents:read`.
   */
  listAgents(input: ListAgentsInput = {}, options?: RequestOptions): List<ListAgentsResult, NonNullable<ListAgentsResult['agents']>[number]> {
    return this.list('GET /v1/agents', input, options, 'agents', 'offset')
  }

  /**
   * List the alerts, the one that changed last first.
   *
   * Needs the scope `events:read`.
   */
  listAlerts(input: ListAlertsInput = {}, options?: RequestOptions): List<AlertsPage, NonNullable<AlertsPage['alerts']>[number]> {
    return this.list('GET /v1/alerts', input, options, 'alerts', 'page')
  }

  /**
   * List the API keys, newest first, including revoked and expired ones.
   *
   * Needs the scope `keys:write`.
   */
  listApiKeys(input: ListApiKeysInput = {}, options?: RequestOptions): List<ApiKeysPage, NonNullable<ApiKeysPage['keys']>[number]> {
    return this.list('GET /v1/api-keys', input, options, 'keys', 'page')
  }

  /**
   * List the actions that wait for approval, newest first.
   *
   * The guardrails are checked again for each response, so they say what an approval would meet now. Needs the scope `agents:read`.
   */
  listApprovals(input: ListApprovalsInput = {}, options?: RequestOptions): List<ApprovalsPage, NonNullable<ApprovalsPage['actions']>[number]> {
    return this.list('GET /v1/approvals', input, options, 'actions', 'page')
  }

  /**
   * List the entries of the audit log, newest first.
   *
   * Needs the scope `audit:read`.
   */
  listAuditLog(input: ListAuditLogInput = {}, options?: RequestOptions): List<AuditLogPage, NonNullable<AuditLogPage['entries']>[number]> {
    return this.list('GET /v1/audit-log', input, options, 'entries', 'page')
  }

  /**
   * List, filter and search companies.
   *
   * Needs the scope `companies:read`. Also needs the scope `events:read` with event conditions in `filter`.
   */
  listCompanies(input: ListCompaniesInput = {}, options?: RequestOptions): List<CompaniesPage, NonNullable<CompaniesPage['companies']>[number]> {
    return this.list('GET /v1/companies', input, options, 'companies', 'page')
  }

  /**
   * List the contacts of a company, newest first.
   *
   * Needs the scope `companies:read`. Also needs the scope `contacts:read`.
   */
  listCompanyContacts(input: ListCompanyContactsInput, options?: RequestOptions): List<CompanyContactsPage, NonNullable<CompanyContactsPage['contacts']>[number]> {
    return this.list('GET /v1/companies/{company_id}/contacts', input, options, 'contacts', 'page')
  }

  /**
   * List the events of a company's contacts, newest first.
   *
   * If the company has more than 1,000 contacts, only events of the newest 1,000 are listed. Needs the scope `events:read`.
   */
  listCompanyEvents(input: ListCompanyEventsInput, options?: RequestOptions): List<CompanyEventsPage, NonNullable<CompanyEventsPage['events']>[number]> {
    return this.list('GET /v1/companies/{company_id}/events', input, options, 'events', 'page')
  }

  /**
   * List the computed properties, by name.
   *
   * Needs the scope `contacts:read`.
   */
  listComputedProperties(input: ListComputedPropertiesInput = {}, options?: RequestOptions): List<ComputedPropertiesPage, NonNullable<ComputedPropertiesPage['computed_properties']>[number]> {
    return this.list('GET /v1/computed-properties', input, options, 'computed_properties', 'page')
  }

  /**
   * List the applications that act for people over MCP, newest first.
   *
   * Needs the scope `settings:read`.
   */
  listConnectedApps(input: ListConnectedAppsInput = {}, options?: RequestOptions): List<ConnectedAppsPage, NonNullable<ConnectedAppsPage['connected_apps']>[number]> {
    return this.list('GET /v1/connected-apps', input, options, 'connected_apps', 'page')
  }

  /**
   * List the last 1,000 records of a connected system that could not be written, latest first.
   *
   * Needs the scope `settings:read`. Also needs the scope `contacts:read`.
   */
  listConnectionErrors(input: ListConnectionErrorsInput, options?: RequestOptions): List<ConnectionErrorsPage, NonNullable<ConnectionErrorsPage['errors']>[number]> {
    return this.list('GET /v1/connections/{connection_id}/errors', input, options, 'errors', 'page')
  }

  /**
   * List the last 50 runs of a connected system, latest first.
   *
   * Needs the scope `settings:read`.
   */
  listConnectionRuns(input: ListConnectionRunsInput, options?: RequestOptions): List<ConnectionRunsPage, NonNullable<ConnectionRunsPage['runs']>[number]> {
    return this.list('GET /v1/connections/{connection_id}/runs', input, options, 'runs', 'page')
  }

  /**
   * List the connected systems, newest first.
   *
   * Needs the scope `settings:read`.
   */
  listConnections(input: ListConnectionsInput = {}, options?: RequestOptions): List<ConnectionsPage, NonNullable<ConnectionsPage['connections']>[number]> {
    return this.list('GET /v1/connections', input, options, 'connections', 'page')
  }

  /**
   * List the connectors, with the credentials and settings that each needs.
   *
   * Needs the scope `settings:read`.
   */
  listConnectors(options?: RequestOptions): Promise<ListConnectorsResult> {
    return this.call('GET /v1/connectors', {}, options)
  }

  /**
   * List the events of a contact, at most 1,000, even after its deletion.
   *
   * A response contains at most 8 MiB of events: `returned` is their number. GET /v1/events?contact_id=… pages through all of them. Needs the scope `contacts:read`.
   */
  listContactEvents(input: ListContactEventsInput, options?: RequestOptions): Promise<ListContactEventsResult> {
    return this.call('GET /v1/contacts/events/{contact_id}', input, options)
  }

  /**
   * List the visitors of a contact, newest first: its browsers and devices.
   *
   * `GET /v1/visitors/{visitor_id}` summarizes the events of one. Needs the scope `contacts:read`.
   */
  listContactVisitors(input: ListContactVisitorsInput, options?: RequestOptions): List<ContactVisitorsPage, NonNullable<ContactVisitorsPage['visitors']>[number]> {
    return this.list('GET /v1/contacts/{contact_id}/visitors', input, options, 'visitors', 'page')
  }

  /**
   * List, filter and search contacts.
   *
   * A single event must match all has_event_* filters. Needs the scope `contacts:read`. Also needs the scope `events:read` with has_event_* filters or event conditions in `filter`.
   */
  listContacts(input: ListContactsInput = {}, options?: RequestOptions): List<ContactsPage, NonNullable<ContactsPage['contacts']>[number]> {
    return this.list('GET /v1/contacts', input, options, 'contacts', 'page')
  }

  /**
   * List the email and messaging conversations of a contact, latest first.
   *
   * Needs the scope `contacts:read`.
   */
  listConversations(input: ListConversationsInput, options?: RequestOptions): List<ConversationsPage, NonNullable<ConversationsPage['conversations']>[number]> {
    return this.list('GET /v1/contacts/{contact_id}/conversations', input, options, 'conversations', 'page')
  }

  /**
   * List the dashboards, the one that changed last first.
   *
   * Needs the scope `events:read`.
   */
  listDashboards(input: ListDashboardsInput = {}, options?: RequestOptions): List<DashboardsPage, NonNullable<DashboardsPage['dashboards']>[number]> {
    return this.list('GET /v1/dashboards', input, options, 'dashboards', 'page')
  }

  /**
   * List the domains whose pages may send events, in alphabetical order.
   *
   * Needs the scope `settings:read`.
   */
  listDomains(input: ListDomainsInput = {}, options?: RequestOptions): List<DomainsPage, NonNullable<DomainsPage['domains']>[number]> {
    return this.list('GET /v1/domains', input, options, 'domains', 'page')
  }

  /**
   * List pairs of contacts that are likely one person, the likeliest first.
   *
   * A pair appears within a minute after one of its contacts was created or changed. Nothing is merged by itself: merge a pair with POST /v1/contacts/:contact_id/merge, or dismiss it. Needs the scope `contacts:read`.
   */
  listDuplicates(input: ListDuplicatesInput = {}, options?: RequestOptions): List<DuplicatesPage, NonNullable<DuplicatesPage['duplicates']>[number]> {
    return this.list('GET /v1/duplicates', input, options, 'duplicates', 'page')
  }

  /**
   * List summaries of the email threads of a contact, latest first.
   *
   * Needs the scope `contacts:read`.
   */
  listEmailThreads(input: ListEmailThreadsInput, options?: RequestOptions): List<EmailThreadsPage, NonNullable<EmailThreadsPage['email_threads']>[number]> {
    return this.list('GET /v1/contacts/{contact_id}/email-threads', input, options, 'email_threads', 'page')
  }

  /**
   * List the receipts of erasures, newest first.
   *
   * Needs the scope `data:erase`.
   */
  listErasures(input: ListErasuresInput = {}, options?: RequestOptions): List<ErasuresPage, NonNullable<ErasuresPage['erasures']>[number]> {
    return this.list('GET /v1/erasures', input, options, 'erasures', 'page')
  }

  /**
   * List the distinct event names.
   *
   * Needs the scope `events:read`.
   */
  listEventTypes(input: ListEventTypesInput = {}, options?: RequestOptions): List<EventTypesPage, NonNullable<EventTypesPage['types']>[number]> {
    return this.list('GET /v1/events/types', input, options, 'types', 'page')
  }

  /**
   * List, filter and search events.
   *
   * Needs the scope `events:read`.
   */
  listEvents(input: ListEventsInput = {}, options?: RequestOptions): List<EventsPage, NonNullable<EventsPage['events']>[number]> {
    return this.list('GET /v1/events', input, options, 'events', 'page')
  }

  /**
   * List the exports of the tenant's data, newest first.
   *
   * Needs the scope `data:export`.
   */
  listExports(input: ListExportsInput = {}, options?: RequestOptions): List<ExportsPage, NonNullable<ExportsPage['exports']>[number]> {
    return this.list('GET /v1/exports', input, options, 'exports', 'page')
  }

  /**
   * List the last bodies of an incoming webhook with their outcomes, newest first.
   *
   * The last 50 bodies of the last 30 days, up to 4 MiB in total. GET /v1/hooks/:hook_id/bodies/:body_id returns the content. Needs the scope `settings:read`. Also needs the scopes `contacts:read`, `companies:read` and `events:read`.
   */
  listHookBodies(input: ListHookBodiesInput, options?: RequestOptions): List<HookBodiesPage, NonNullable<HookBodiesPage['bodies']>[number]> {
    return this.list('GET /v1/hooks/{hook_id}/bodies', input, options, 'bodies', 'page')
  }

  /**
   * List the incoming webhooks, newest first.
   *
   * Needs the scope `settings:read`.
   */
  listHooks(input: ListHooksInput = {}, options?: RequestOptions): List<HooksPage, NonNullable<HooksPage['hooks']>[number]> {
    return this.list('GET /v1/hooks', input, options, 'hooks', 'page')
  }

  /**
   * List the identities, newest first.
   *
   * Needs the scope `identities:read`.
   */
  listIdentities(input: ListIdentitiesInput = {}, options?: RequestOptions): List<IdentitiesPage, NonNullable<IdentitiesPage['identities']>[number]> {
    return this.list('GET /v1/identities', input, options, 'identities', 'page')
  }

  /**
   * List the imports of uploaded files, newest first.
   *
   * Needs the scope `contacts:write`.
   */
  listImports(input: ListImportsInput = {}, options?: RequestOptions): List<ImportsPage, NonNullable<ImportsPage['imports']>[number]> {
    return this.list('GET /v1/imports', input, options, 'imports', 'page')
  }

  /**
   * List the pending invitations, newest first.
   *
   * Needs the scope `settings:read`.
   */
  listInvitations(input: ListInvitationsInput = {}, options?: RequestOptions): List<InvitationsPage, NonNullable<InvitationsPage['invitations']>[number]> {
    return this.list('GET /v1/invitations', input, options, 'invitations', 'page')
  }

  /**
   * List the contacts that undoing an import left as they are, because they were changed since.
   *
   * Needs the scope `contacts:write`. Also needs the scope `contacts:read`.
   */
  listKeptContacts(input: ListKeptContactsInput, options?: RequestOptions): List<KeptContactsPage, NonNullable<KeptContactsPage['contacts']>[number]> {
    return this.list('GET /v1/imports/{import_id}/kept', input, options, 'contacts', 'page')
  }

  /**
   * List the mailboxes of the identities and their state.
   *
   * Needs the scope `identities:read`.
   */
  listMailboxes(input: ListMailboxesInput = {}, options?: RequestOptions): List<MailboxesPage, NonNullable<MailboxesPage['mailboxes']>[number]> {
    return this.list('GET /v1/mailboxes', input, options, 'mailboxes', 'page')
  }

  /**
   * List the members of the tenant, in the order in which they joined.
   *
   * Needs the scope `settings:read`.
   */
  listMembers(input: ListMembersInput = {}, options?: RequestOptions): List<MembersPage, NonNullable<MembersPage['members']>[number]> {
    return this.list('GET /v1/members', input, options, 'members', 'page')
  }

  /**
   * List the contacts that were merged into a contact, the latest first.
   *
   * Needs the scope `contacts:read`.
   */
  listMerges(input: ListMergesInput, options?: RequestOptions): List<MergesPage, NonNullable<MergesPage['merges']>[number]> {
    return this.list('GET /v1/contacts/{contact_id}/merges', input, options, 'merges', 'page')
  }

  /**
   * List the notes of a contact, newest first.
   *
   * A response contains at most 8 MiB of notes. If a page has more, `truncated` is true and its last notes are omitted: use a smaller limit. Pages of 13 notes or fewer always fit. Needs the scope `contacts:read`.
   */
  listNotes(input: ListNotesInput, options?: RequestOptions): List<NotesPage, NonNullable<NotesPage['notes']>[number]> {
    return this.list('GET /v1/contacts/{contact_id}/notes', input, options, 'notes', 'page')
  }

  /**
   * List the providers where the workspace can sign in, with its OAuth client at each.
   *
   * Needs the scope `settings:read`.
   */
  listOAuthClients(options?: RequestOptions): Promise<ListOAuthClientsResult> {
    return this.call('GET /v1/oauth-clients', {}, options)
  }

  /**
   * List the properties that are hidden from AI agents, and proposals to hide or show others.
   *
   * Of the newest 2,000 records, or the newest 2,000 events of the last 90 days. The proposals are made from names and values. Nothing changes until you add a name to `personal_properties` or `visible_properties` of the tenant, which also ends the proposal. Needs the scope `settings:read`. Also needs the scope `contacts:read` for `entity=contacts`. Also needs the scope `companies:read` for `entity=companies`. Also needs the scope `events:read` for `entity=events`.
   */
  listPersonalProperties(input: ListPersonalPropertiesInput = {}, options?: RequestOptions): Promise<ListPersonalPropertiesResult> {
    return this.call('GET /v1/personal-properties', input, options)
  }

  /**
   * List the latest 1,000 versions of an agent’s playbook, newest first.
   *
   * Needs the scope `agents:read`.
   */
  listPlaybookVersions(input: ListPlaybookVersionsInput, options?: RequestOptions): List<PlaybookVersionsPage, NonNullable<PlaybookVersionsPage['versions']>[number]> {
    return this.list('GET /v1/agents/{agent_id}/playbook-versions', input, options, 'versions', 'page')
  }

  /**
   * List the playbook templates, and the variables, capabilities and models an agent can use.
   *
   * Needs the scope `agents:read`.
   */
  listPlaybooks(options?: RequestOptions): Promise<PlaybooksResult> {
    return this.call('GET /v1/playbooks', {}, options)
  }

  /**
   * List the properties of contacts, companies or events, most used first.
   *
   * Columns come first. Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on `entity`.
   */
  listProperties(input: ListPropertiesInput = {}, options?: RequestOptions): Promise<ListPropertiesResult> {
    return this.call('GET /v1/properties', input, options)
  }

  /**
   * List the reports, the one that changed last first.
   *
   * Needs the scope `events:read`.
   */
  listReports(input: ListReportsInput = {}, options?: RequestOptions): List<ReportsPage, NonNullable<ReportsPage['reports']>[number]> {
    return this.list('GET /v1/reports', input, options, 'reports', 'page')
  }

  /**
   * List requests of the tenant's pages and servers that were rejected or accepted with warnings, newest first.
   *
   * Tracker requests, refused loads of the tracker script and form submissions of the last hour, and requests with an API key to POST /v1/contacts, /v1/identify and /v1/sources/:source/contacts. From a page whose domain you have not verified, you see that it sent something, not what: at most once a minute for each of 20 hosts, if the request names the tenant, if you added the domain or one above it, or if the service has no other tenant. In a flood only a sample is kept; `skipped` counts the rest. Erasing a contact deletes the whole list. Needs the scope `events:read`.
   */
  listRequestProblems(input: ListRequestProblemsInput = {}, options?: RequestOptions): List<RequestProblemsPage, NonNullable<RequestProblemsPage['problems']>[number]> {
    return this.list('GET /v1/tracker/problems', input, options, 'problems', 'page')
  }

  /**
   * List the contacts of a run with their results, in the order of the run.
   *
   * Needs the scope `agents:read`.
   */
  listRunContacts(input: ListRunContactsInput, options?: RequestOptions): List<RunContactsPage, NonNullable<RunContactsPage['contacts']>[number]> {
    return this.list('GET /v1/agents/runs/{run_id}/contacts', input, options, 'contacts', 'page')
  }

  /**
   * List the next times of a schedule.
   *
   * Needs the scope `agents:read`.
   */
  listScheduleTimes(input: ListScheduleTimesInput, options?: RequestOptions): Promise<ListScheduleTimesResult> {
    return this.call('GET /v1/schedules', input, options)
  }

  /**
   * List the scopes that an API key can have.
   *
   * Needs the scope `settings:read`.
   */
  listScopes(options?: RequestOptions): Promise<ListScopesResult> {
    return this.call('GET /v1/api-keys/scopes', {}, options)
  }

  /**
   * List who entered and left a segment, the latest first, and what happened just before.
   *
   * Contacts that a new or changed filter added or removed record no event, so they are not listed. Needs the scope `segments:read`. Also needs the scopes `contacts:read` and `events:read`.
   */
  listSegmentChanges(input: ListSegmentChangesInput, options?: RequestOptions): List<SegmentChangesPage, NonNullable<SegmentChangesPage['changes']>[number]> {
    return this.list('GET /v1/segments/{segment_id}/changes', input, options, 'changes', 'page')
  }

  /**
   * List the companies in a segment of companies.
   *
   * Needs the scope `segments:read`. Also needs the scope `companies:read`.
   */
  listSegmentCompanies(input: ListSegmentCompaniesInput, options?: RequestOptions): List<SegmentCompaniesPage, NonNullable<SegmentCompaniesPage['companies']>[number]> {
    return this.list('GET /v1/segments/{segment_id}/companies', input, options, 'companies', 'page')
  }

  /**
   * List the contacts in a segment of contacts.
   *
   * Needs the scope `segments:read`.
   */
  listSegmentContacts(input: ListSegmentContactsInput, options?: RequestOptions): List<SegmentContactsPage, NonNullable<SegmentContactsPage['contacts']>[number]> {
    return this.list('GET /v1/segments/{segment_id}/contacts', input, options, 'contacts', 'page')
  }

  /**
   * List the segments, newest first.
   *
   * Needs the scope `segments:read`.
   */
  listSegments(input: ListSegmentsInput = {}, options?: RequestOptions): List<SegmentsPage, NonNullable<SegmentsPage['segments']>[number]> {
    return this.list('GET /v1/segments', input, options, 'segments', 'page')
  }

  /**
   * List the sources, newest first: what sends events with a write key, and the connectors that push records.
   *
   * Needs the scope `settings:read`.
   */
  listSources(input: ListSourcesInput = {}, options?: RequestOptions): List<SourcesPage, NonNullable<SourcesPage['sources']>[number]> {
    return this.list('GET /v1/sources', input, options, 'sources', 'page')
  }

  /**
   * List suppressed addresses with the reason, latest first.
   *
   * Needs the scope `contacts:read`.
   */
  listSuppressions(input: ListSuppressionsInput = {}, options?: RequestOptions): List<SuppressionsPage, NonNullable<SuppressionsPage['suppressions']>[number]> {
    return this.list('GET /v1/suppressions', input, options, 'suppressions', 'page')
  }

  /**
   * List the tools that an API key or a connected application can use over MCP.
   *
   * Needs the scope `settings:read`.
   */
  listTools(options?: RequestOptions): Promise<ListToolsResult> {
    return this.call('GET /v1/api-keys/tools', {}, options)
  }

  /**
   * List the saved views, by page and name.
   *
   * Needs the scope `settings:read`.
   */
  listViews(input: ListViewsInput = {}, options?: RequestOptions): List<ViewsPage, NonNullable<ViewsPage['views']>[number]> {
    return this.list('GET /v1/views', input, options, 'views', 'page')
  }

  /**
   * List visits, the latest first.
   *
   * A visit has the events of one session of a visitor. The dates are those of its first event. Without `date_after` and without a contact, company, visitor or session, the 28 days before `date_before` are listed. Needs the scope `events:read`.
   */
  listVisits(input: ListVisitsInput = {}, options?: RequestOptions): List<VisitsPage, NonNullable<VisitsPage['visits']>[number]> {
    return this.list('GET /v1/visits', input, options, 'visits', 'page')
  }

  /**
   * List the export destinations with their latest runs, newest first.
   *
   * Needs the scope `settings:read`.
   */
  listWarehouseDestinations(input: ListWarehouseDestinationsInput = {}, options?: RequestOptions): List<WarehouseDestinationsPage, NonNullable<WarehouseDestinationsPage['destinations']>[number]> {
    return this.list('GET /v1/warehouse', input, options, 'destinations', 'page')
  }

  /**
   * List the latest runs of an export destination, newest first.
   *
   * Needs the scope `settings:read`.
   */
  listWarehouseRuns(input: ListWarehouseRunsInput, options?: RequestOptions): List<WarehouseRunsPage, NonNullable<WarehouseRunsPage['runs']>[number]> {
    return this.list('GET /v1/warehouse/{destination_id}/runs', input, options, 'runs', 'page')
  }

  /**
   * List the deliveries of a webhook subscription with every attempt, newest first.
   *
   * Needs the scope `webhooks:read`. Also needs the scopes `contacts:read` and `events:read`.
   */
  listWebhookDeliveries(input: ListWebhookDeliveriesInput, options?: RequestOptions): List<WebhookDeliveriesPage, NonNullable<WebhookDeliveriesPage['deliveries']>[number]> {
    return this.list('GET /v1/webhooks/{subscription_id}/deliveries', input, options, 'deliveries', 'page')
  }

  /**
   * List the known event types, each with a sample delivery.
   *
   * You can also subscribe to any other name that you record. Needs the scope `webhooks:read`.
   */
  listWebhookEventTypes(options?: RequestOptions): Promise<ListWebhookEventTypesResult> {
    return this.call('GET /v1/webhooks/event-types', {}, options)
  }

  /**
   * List the health of the webhook subscriptions, newest first.
   *
   * Needs the scope `webhooks:read`.
   */
  listWebhookHealth(input: ListWebhookHealthInput = {}, options?: RequestOptions): List<WebhookHealthPage, NonNullable<WebhookHealthPage['health']>[number]> {
    return this.list('GET /v1/webhooks/health', input, options, 'health', 'page')
  }

  /**
   * List the webhook subscriptions, newest first.
   *
   * Needs the scope `webhooks:read`.
   */
  listWebhooks(input: ListWebhooksInput = {}, options?: RequestOptions): List<WebhooksPage, NonNullable<WebhooksPage['webhooks']>[number]> {
    return this.list('GET /v1/webhooks', input, options, 'webhooks', 'page')
  }

  /**
   * Follow events as they are recorded.
   *
   * A stream of server-sent events that ends when you close it, or when the key or the session loses its access. Needs the scope `events:read`.
   */
  liveEvents(options?: RequestOptions): Promise<Response> {
    return this.call('GET /v1/live', {}, options, 'file')
  }

  /**
   * Merge a contact into another.
   *
   * The contact in `into` survives. It gets the properties, visitors, events and notes of the other, and is found by its email, external id and source ids. The other contact returns 404 `contact_merged` until it is unmerged. `If-Match` is the ETag of the contact in the path; the response has the ETag of the contact that survives. Needs the scope `contacts:write`.
   */
  mergeContact(input: MergeContactInput, options?: RequestOptions): Promise<MergeContactResult> {
    return this.call('POST /v1/contacts/{contact_id}/merge', input, options)
  }

  /**
   * Pause a connected system: nothing is pulled until you resume it.
   *
   * Needs the scope `settings:write`.
   */
  pauseConnection(input: PauseConnectionInput, options?: RequestOptions): Promise<PauseConnectionResult> {
    return this.call('POST /v1/connections/{connection_id}/pause', input, options)
  }

  /**
   * Pause scheduled runs; a run in progress continues.
   *
   * Needs the scope `data:export`.
   */
  pauseWarehouseDestination(input: PauseWarehouseDestinationInput, options?: RequestOptions): Promise<PauseWarehouseDestinationResult> {
    return this.call('POST /v1/warehouse/{destination_id}/pause', input, options)
  }

  /**
   * Stop deliveries; events recorded while it is paused are not delivered later.
   *
   * Needs the scope `webhooks:write`.
   */
  pauseWebhook(input: PauseWebhookInput, options?: RequestOptions): Promise<PauseWebhookResult> {
    return this.call('POST /v1/webhooks/{subscription_id}/pause', input, options)
  }

  /**
   * Get when an alert would have fired in the past 90 days.
   *
   * By the rule of the checks, with what is known now. An interval that is not over yet is left out. A funnel and a retention are asked once for each interval. If the report is about contacts or companies, you also need the scope `contacts:read`. Needs the scope `events:read`.
   */
  previewAlert(input: PreviewAlertInput, options?: RequestOptions): Promise<PreviewAlertResult> {
    return this.call('POST /v1/alerts/preview', input, options)
  }

  /**
   * Preview the records that a mapping would create from a body; nothing is written.
   *
   * Default for `mapping`: the hook's mapping. Needs the scope `settings:read`. Also needs the scopes `contacts:read`, `companies:read` and `events:read` without `sample`.
   */
  previewHook(input: PreviewHookInput, options?: RequestOptions): Promise<PreviewHookResult> {
    return this.call('POST /v1/hooks/{hook_id}/preview', input, options)
  }

  /**
   * Compute what an import would do, in the background; nothing is written.
   *
   * Needs the scope `contacts:write`.
   */
  previewImport(input: PreviewImportInput, options?: RequestOptions): Promise<ImportResult> {
    return this.call('POST /v1/imports/{import_id}/preview', input, options)
  }

  /**
   * Render an outreach email exactly as it would be sent; nothing is sent or stored.
   *
   * Each sent email has an unsubscribe link of its own; the preview has a placeholder in its place. Needs the scope `identities:read`.
   */
  previewMail(input: PreviewMailInput, options?: RequestOptions): Promise<MailPreviewResult> {
    return this.call('POST /v1/mail-previews', input, options)
  }

  /**
   * Count the contacts or companies that match a filter, without defining a segment.
   *
   * Needs the scope `segments:read`. Also needs the scope `contacts:read` for contacts. Also needs the scope `companies:read` for companies. Also needs the scope `events:read` with event conditions in `filter`.
   */
  previewSegment(input: PreviewSegmentInput, options?: RequestOptions): Promise<PreviewSegmentResult> {
    return this.call('POST /v1/segments/preview', input, options)
  }

  /**
   * Preview the message that a webhook with the format slack sends for an event.
   *
   * The contact and the event are made up. Needs the scope `webhooks:read`.
   */
  previewWebhookMessage(input: PreviewWebhookMessageInput, options?: RequestOptions): Promise<PreviewWebhookMessageResult> {
    return this.call('GET /v1/webhooks/preview', input, options)
  }

  /**
   * Propose an action for a contact; it always waits for approval.
   *
   * Use it for proposals that your own program or AI agent makes. The action is one of the agent: its capabilities say which types may be proposed, its identity is the sender, and the guardrails apply. It waits for approval whatever its type and the agent's playbook say. No model is called. If a guardrail rejects it, the response is an action with the status `rejected`, whose `error` says why. Needs the scope `agents:trigger`. Also needs the scope `contacts:read`.
   */
  proposeAction(input: ProposeActionInput, options?: RequestOptions): Promise<ActionResult> {
    return this.call('POST /v1/agents/{agent_id}/actions', input, options)
  }

  /**
   * Propose a mapping for a body; nothing is written.
   *
   * The proposal follows from the names and values of the fields of the body: the person with the first address, what happened and when, and what else there is. Check it with a preview before you save it. Needs the scope `settings:read`. Also needs the scopes `contacts:read`, `companies:read` and `events:read` without `sample`.
   */
  proposeHookMapping(input: ProposeHookMappingInput, options?: RequestOptions): Promise<HookMappingResult> {
    return this.call('POST /v1/hooks/{hook_id}/proposal', input, options)
  }

  /**
   * Pull the changes of a connected system now.
   *
   * Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  pullConnection(input: PullConnectionInput, options?: RequestOptions): Promise<ConnectionResult> {
    return this.call('POST /v1/connections/{connection_id}/pull', input, options)
  }

  /**
   * Create or update contacts with the records of a connected system.
   *
   * A contact is found by the source's id for it, else by email, else created. An `external_id` that names nobody, such as `undefined`, is ignored with the warning `ignored_id`; without an email, the record fails. An invalid record does not affect the others. Needs the scope `contacts:write`.
   */
  pushSourceContacts(input: PushSourceContactsInput, options?: RequestOptions): Promise<PushSourceContactsResult> {
    return this.call('POST /v1/sources/{source}/contacts', input, options)
  }

  /**
   * Add conversations of a messaging tool.
   *
   * The thread_key identifies a thread, the message_id a message. Messages that are already stored are ignored, so a push can be repeated even if a request is interrupted. An invalid record does not affect the others. Needs the scope `contacts:write`.
   */
  pushSourceConversations(input: PushSourceConversationsInput, options?: RequestOptions): Promise<PushSourceConversationsResult> {
    return this.call('POST /v1/sources/{source}/conversations', input, options)
  }

  /**
   * Read the figures of a shared report or dashboard.
   *
   * For anybody who has the link. The response has numbers, and never people: neither conditions nor values that may be about a person. It is computed once a minute.
   */
  readShared(input: ReadSharedInput, options?: RequestOptions): Promise<ReadSharedResult> {
    return this.call('GET /v1/public/shared/{token}', input, options)
  }

  /**
   * Whether both databases respond, have disk space, and have the tables that the service needs
   */
  ready(options?: RequestOptions): Promise<ReadyResult> {
    return this.call('GET /health/ready', {}, options)
  }

  /**
   * Send a body to an incoming webhook.
   *
   * Called by other systems. The token in the path is the hook's. The body is a JSON object or array, or a form (`application/x-www-form-urlencoded`), of at most 512 KiB. If the hook has a signing secret, the signature header must match the body. The response is 200 with the outcome, even if the mapping could not turn the body into records, so that the sender does not send it again. It is 202 if the body is stored and will be recorded later.
   */
  receiveHook(input: ReceiveHookInput, options?: RequestOptions): Promise<ReceiveHookResult> {
    return this.call('POST /v1/public/hooks/{token}', input, options)
  }

  /**
   * Reject a proposed action; it never executes.
   *
   * Needs the scope `agents:approve`.
   */
  rejectAction(input: RejectActionInput, options?: RequestOptions): Promise<ActionResult> {
    return this.call('POST /v1/agents/runs/{run_id}/contacts/{contact_id}/actions/{action_index}/reject', input, options)
  }

  /**
   * Reject several proposed actions independently.
   *
   * If an action cannot be rejected, its decision has an `error`, and the others are not affected. Needs the scope `agents:approve`.
   */
  rejectActions(input: RejectActionsInput, options?: RequestOptions): Promise<RejectActionsResult> {
    return this.call('POST /v1/approvals/reject', input, options)
  }

  /**
   * Remove a domain: its pages can no longer send events.
   *
   * Needs the scope `settings:write`.
   */
  removeDomain(input: RemoveDomainInput, options?: RequestOptions): Promise<RemoveDomainResult> {
    return this.call('DELETE /v1/domains/{domain_id}', input, options)
  }

  /**
   * Remove the email account of an identity, with its secrets.
   *
   * Needs the scope `identities:write`.
   */
  removeEmailAccount(input: RemoveEmailAccountInput, options?: RequestOptions): Promise<RemoveEmailAccountResult> {
    return this.call('DELETE /v1/identities/{identity_id}/email-account', input, options)
  }

  /**
   * Remove a member from the tenant.
   *
   * Takes effect with their next request, and deletes the invitations that they created. Only an owner can remove owners. Needs the scope `settings:write`.
   */
  removeMember(input: RemoveMemberInput, options?: RequestOptions): Promise<RemoveMemberResult> {
    return this.call('DELETE /v1/members/{user_id}', input, options)
  }

  /**
   * Allow mail to an address again.
   *
   * If its owner unsubscribed or complained, their contact becomes subscribed again. Needs the scope `identities:write`. Also needs the scope `contacts:write`.
   */
  removeSuppression(input: RemoveSuppressionInput, options?: RequestOptions): Promise<RemoveSuppressionResult> {
    return this.call('DELETE /v1/suppressions/{address}', input, options)
  }

  /**
   * Create a new link, valid for another week; the previous one stops working.
   *
   * Needs the scope `settings:write`.
   */
  renewInvitation(input: RenewInvitationInput, options?: RequestOptions): Promise<RenewInvitationResult> {
    return this.call('POST /v1/invitations/{invitation_id}/renew', input, options)
  }

  /**
   * Reopen a tenant that was closed.
   *
   * Only for an owner who is signed in, and for the operator on the command line. Everything works again as before, and continues where it stopped. Needs the scope `settings:write`.
   */
  reopenTenant(options?: RequestOptions): Promise<TenantResult> {
    return this.call('POST /v1/tenant/reopen', {}, options)
  }

  /**
   * Replace a saved view.
   *
   * Needs the scope `views:write`.
   */
  replaceView(input: ReplaceViewInput, options?: RequestOptions): Promise<SavedViewResult> {
    return this.call('PUT /v1/views/{view_id}', input, options)
  }

  /**
   * Compare another playbook with the stored one on the same contacts, without storing it or its proposals.
   *
   * Both are evaluated as in a dry run, with what is known of the contacts now, on the contacts that the agent evaluated last. Nothing is executed or proposed. Fields of `playbook` that are not sent stay as they are, and null removes one, as in a change of the agent. If a model is called, its cost counts towards the caps, both sides as one run, and the audit log has an entry. If a request is interrupted, a retry calls the model again, at a cost. Needs the scope `agents:write`. Also needs the scopes `agents:trigger`, `contacts:read` and `events:read`.
   */
  replayAgent(input: ReplayAgentInput, options?: RequestOptions): Promise<ReplayAgentResult> {
    return this.call('POST /v1/agents/{agent_id}/replay', input, options)
  }

  /**
   * Read everything again that changed since a time, without duplicates.
   *
   * Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  rereadConnection(input: RereadConnectionInput, options?: RequestOptions): Promise<ConnectionResult> {
    return this.call('POST /v1/connections/{connection_id}/reread', input, options)
  }

  /**
   * Read a mailbox from the start again, to find earlier mails of new contacts.
   *
   * Needs the scope `identities:write`. Also needs the scopes `contacts:read` and `contacts:write`.
   */
  rereadMailbox(input: RereadMailboxInput, options?: RequestOptions): Promise<RereadMailboxResult> {
    return this.call('POST /v1/mailboxes/{identity_id}/reread', input, options)
  }

  /**
   * Resend the deliveries whose events were recorded in a time range.
   *
   * By default only those that failed for good, each with six new attempts. Those that wait for a retry make their next attempt now. What is due or being sent stays as it is. One request covers at most 5,000 deliveries: repeat it with `next` as `after` until that is null. Needs the scope `webhooks:write`. Also needs the scopes `contacts:read` and `events:read`.
   */
  resendWebhookDeliveries(input: ResendWebhookDeliveriesInput, options?: RequestOptions): Promise<ResendWebhookDeliveriesResult> {
    return this.call('POST /v1/webhooks/{subscription_id}/deliveries/resend', input, options)
  }

  /**
   * Send a delivery again.
   *
   * A finished delivery gets six new attempts. One that is being retried makes its next attempt now. Needs the scope `webhooks:write`. Also needs the scopes `contacts:read` and `events:read`.
   */
  resendWebhookDelivery(input: ResendWebhookDeliveryInput, options?: RequestOptions): Promise<WebhookDeliveryResult> {
    return this.call('POST /v1/webhooks/{subscription_id}/deliveries/{delivery_id}/resend', input, options)
  }

  /**
   * Resume a paused system where it stopped.
   *
   * Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  resumeConnection(input: ResumeConnectionInput, options?: RequestOptions): Promise<ResumeConnectionResult> {
    return this.call('POST /v1/connections/{connection_id}/resume', input, options)
  }

  /**
   * Resume scheduled runs; the next run exports what was missed.
   *
   * Needs the scope `data:export`. Also needs the scopes `contacts:read`, `companies:read` and `events:read`.
   */
  resumeWarehouseDestination(input: ResumeWarehouseDestinationInput, options?: RequestOptions): Promise<ResumeWarehouseDestinationResult> {
    return this.call('POST /v1/warehouse/{destination_id}/resume', input, options)
  }

  /**
   * Resume deliveries.
   *
   * Needs the scope `webhooks:write`. Also needs the scopes `contacts:read` and `events:read`.
   */
  resumeWebhook(input: ResumeWebhookInput, options?: RequestOptions): Promise<ResumeWebhookResult> {
    return this.call('POST /v1/webhooks/{subscription_id}/resume', input, options)
  }

  /**
   * Show the URL of an incoming webhook again; the audit log records who saw it.
   *
   * Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  revealHookUrl(input: RevealHookUrlInput, options?: RequestOptions): Promise<RevealHookUrlResult> {
    return this.call('POST /v1/hooks/{hook_id}/reveal', input, options)
  }

  /**
   * Revoke an API key: it stops working at once.
   *
   * Also deletes the invitations that the key created. Needs the scope `keys:write`.
   */
  revokeApiKey(input: RevokeApiKeyInput, options?: RequestOptions): Promise<RevokeApiKeyResult> {
    return this.call('DELETE /v1/api-keys/{key_id}', input, options)
  }

  /**
   * Disconnect an application: its tokens stop working at once.
   *
   * Needs the scope settings:write, except for an application that you connected yourself.
   */
  revokeConnectedApp(input: RevokeConnectedAppInput, options?: RequestOptions): Promise<RevokeConnectedAppResult> {
    return this.call('DELETE /v1/connected-apps/{grant_id}', input, options)
  }

  /**
   * Replace the token of an incoming webhook; the old URL works for another 24 hours.
   *
   * Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  rotateHookToken(input: RotateHookTokenInput, options?: RequestOptions): Promise<RotateHookTokenResult> {
    return this.call('POST /v1/hooks/{hook_id}/rotate', input, options)
  }

  /**
   * Create or rotate the identity secret.
   *
   * Returns the secret, which is never shown again. The previous secret stays valid for 24 hours; the one before it stops working. To invalidate a leaked secret at once, rotate twice. Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  rotateIdentitySecret(options?: RequestOptions): Promise<RotateIdentitySecretResult> {
    return this.call('POST /v1/tenant/identity-secret', {}, options)
  }

  /**
   * Rotate the signing secret of a webhook subscription; the old one also signs until the overlap ends.
   *
   * Needs the scope `webhooks:write`. Also needs the scopes `contacts:read` and `events:read`.
   */
  rotateWebhookSecret(input: RotateWebhookSecretInput, options?: RequestOptions): Promise<RotateWebhookSecretResult> {
    return this.call('POST /v1/webhooks/{subscription_id}/rotate', input, options)
  }

  /**
   * Replace the write key of a source; the old key works for another 24 hours.
   *
   * Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write` for a server source.
   */
  rotateWriteKey(input: RotateWriteKeyInput, options?: RequestOptions): Promise<RotateWriteKeyResult> {
    return this.call('POST /v1/sources/{source_id}/rotate', input, options)
  }

  /**
   * Answer the questions of all reports on a dashboard.
   *
   * Each report is asked over the range of the dashboard, if that has one, and with its conditions too. A question without an answer leaves the others as they are. Reports about contacts or companies need the scope `contacts:read`. Needs the scope `events:read`.
   */
  runDashboard(input: RunDashboardInput, options?: RequestOptions): Promise<RunDashboardResult> {
    return this.call('POST /v1/dashboards/{dashboard_id}/run', input, options)
  }

  /**
   * Record a body again with the hook's current mapping.
   *
   * The contact and the company get the values of the body. Its event is not recorded again, unless the mapping now gives it a different id or name. So a retry after an interrupted request is harmless. Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  runHookBody(input: RunHookBodyInput, options?: RequestOptions): Promise<HookBodyResult> {
    return this.call('POST /v1/hooks/{hook_id}/bodies/{body_id}/run', input, options)
  }

  /**
   * Answer the question of a report.
   *
   * The answer is that of the operation of its kind. If the question is about contacts or companies, you also need the scope `contacts:read`. Needs the scope `events:read`.
   */
  runReport(input: RunReportInput, options?: RequestOptions): Promise<RunReportResult> {
    return this.call('POST /v1/reports/{report_id}/run', input, options)
  }

  /**
   * Export now, in the background.
   *
   * If a run is already in progress, its id is returned instead. If that run is waiting to be retried, it continues now. At most 10 in 24 hours. Needs the scope `data:export`. Also needs the scopes `contacts:read`, `companies:read` and `events:read`.
   */
  runWarehouseExport(input: RunWarehouseExportInput, options?: RequestOptions): Promise<RunWarehouseExportResult> {
    return this.call('POST /v1/warehouse/{destination_id}/run', input, options)
  }

  /**
   * Record a alias call of an SDK of Segment or RudderStack.
   *
   * Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable.
   */
  sdkAlias(input: SdkAliasInput = {}, options?: RequestOptions): Promise<SdkResult> {
    return this.call('POST /v1/alias', input, options)
  }

  /**
   * Record up to 2,500 calls of an SDK of Segment or RudderStack.
   *
   * Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable. A call that is not valid does not affect the others: `warnings` names it.
   */
  sdkBatch(input: SdkBatchInput, options?: RequestOptions): Promise<SdkResult> {
    return this.call('POST /v1/batch', input, options)
  }

  /**
   * Record a group call of an SDK of Segment or RudderStack.
   *
   * Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable.
   */
  sdkGroup(input: SdkGroupInput = {}, options?: RequestOptions): Promise<SdkResult> {
    return this.call('POST /v1/group', input, options)
  }

  /**
   * Record up to 2,500 calls of an SDK of Segment or RudderStack.
   *
   * Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable. A call that is not valid does not affect the others: `warnings` names it.
   */
  sdkImport(input: SdkImportInput, options?: RequestOptions): Promise<SdkResult> {
    return this.call('POST /v1/import', input, options)
  }

  /**
   * Record a page call of an SDK of Segment or RudderStack.
   *
   * Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable.
   */
  sdkPage(input: SdkPageInput = {}, options?: RequestOptions): Promise<SdkResult> {
    return this.call('POST /v1/page', input, options)
  }

  /**
   * Record a screen call of an SDK of Segment or RudderStack.
   *
   * Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable.
   */
  sdkScreen(input: SdkScreenInput = {}, options?: RequestOptions): Promise<SdkResult> {
    return this.call('POST /v1/screen', input, options)
  }

  /**
   * Record a track call of an SDK of Segment or RudderStack.
   *
   * Called by the SDKs with a write key, as the user name of Authorization: Basic or as `writeKey`. The body is JSON of any content type, and may be compressed. Ids that name nobody, such as `undefined`, are ignored with the warning `ignored_id`. Responds once the calls are durable.
   */
  sdkTrack(input: SdkTrackInput = {}, options?: RequestOptions): Promise<SdkResult> {
    return this.call('POST /v1/track', input, options)
  }

  /**
   * Record up to 500 events from your servers.
   *
   * Each event names its person: contact_id, user_id, email or visitor_id. A user_id or email that no contact has yet creates one. An event that fails does not affect the others. Ids that name nobody, such as `undefined` or `null`, are ignored with the warning `ignored_id`. Responds once the events are durable; every read that starts after the response sees them. With an Idempotency-Key, events without `event_id` get ids that a retry repeats, so a retry after an interruption records each event once. Needs the scope `events:write`.
   */
  sendEvents(input: SendEventsInput, options?: RequestOptions): Promise<SendEventsResult> {
    return this.call('POST /v1/events', input, options)
  }

  /**
   * Set whether notes and mails of agents are stored in a connected system as activities of the contact.
   *
   * Stores notes and sent mails from then on, once the action was executed, if the system has the contact. They are not read back. Needs the scope `settings:write`. Also needs the scopes `contacts:read` and `agents:read`.
   */
  setConnectionActivities(input: SetConnectionActivitiesInput, options?: RequestOptions): Promise<SetConnectionActivitiesResult> {
    return this.call('PUT /v1/connections/{connection_id}/activities', input, options)
  }

  /**
   * Set which contact properties are written back to a connected system, or turn write-back off.
   *
   * Only changes made after this are written. The service checks that the system has the fields. Needs the scope `settings:write`. Also needs the scopes `contacts:read`, `contacts:write`, `companies:write` and `events:write`.
   */
  setConnectionWriteBack(input: SetConnectionWriteBackInput, options?: RequestOptions): Promise<SetConnectionWriteBackResult> {
    return this.call('PUT /v1/connections/{connection_id}/write-back', input, options)
  }

  /**
   * Set the email account of an identity, after logging in to its servers.
   *
   * The login is a `password`, an `access_token`, or a `refresh_token` with its `token_url` and `client_id`, from which the service gets access tokens itself. Without any of them, the stored login is kept. Needs the scope `identities:write`. Also needs the scopes `contacts:read` and `contacts:write`.
   */
  setEmailAccount(input: SetEmailAccountInput, options?: RequestOptions): Promise<EmailAccountResult> {
    return this.call('PUT /v1/identities/{identity_id}/email-account', input, options)
  }

  /**
   * Read the file in another encoding, with another delimiter, or with its header on another line.
   *
   * Omitted fields are detected again, except the encoding. The columns are read again, and a new mapping is proposed. `encodings` of an import shows how its words read in each encoding. Needs the scope `contacts:write`.
   */
  setImportFormat(input: SetImportFormatInput, options?: RequestOptions): Promise<ImportResult> {
    return this.call('PUT /v1/imports/{import_id}/format', input, options)
  }

  /**
   * Set where the columns of the file go.
   *
   * Columns that are not listed are ignored. One must be the email or the external id. Needs the scope `contacts:write`.
   */
  setImportMapping(input: SetImportMappingInput, options?: RequestOptions): Promise<ImportResult> {
    return this.call('PUT /v1/imports/{import_id}/mapping', input, options)
  }

  /**
   * Store the OAuth client that you registered at a provider; its secret is never returned.
   *
   * Register the `redirect_url` from the response at the provider. If you replace a client, repeat the sign-ins that were made with it. Needs the scope `settings:write`.
   */
  setOAuthClient(input: SetOAuthClientInput, options?: RequestOptions): Promise<OAuthClientResult> {
    return this.call('PUT /v1/oauth-clients/{provider}', input, options)
  }

  /**
   * Create a link that shows the figures of a dashboard to anybody.
   *
   * Anybody who has the link can read the figures, also those of later changes. They see the names, the ranges and the numbers, but no conditions and no people. The link stays the same until it is deleted. A breakdown by values that may be about a person, such as those of `data`, cannot be shared. Needs the scope `segments:write`. Also needs the scope `events:read`. Also needs the scope `contacts:read` if a question is about contacts or companies.
   */
  shareDashboard(input: ShareDashboardInput, options?: RequestOptions): Promise<ShareResult> {
    return this.call('POST /v1/dashboards/{dashboard_id}/share', input, options)
  }

  /**
   * Create a link that shows the figures of a report to anybody.
   *
   * Anybody who has the link can read the figures, also those of later changes. They see the names, the ranges and the numbers, but no conditions and no people. The link stays the same until it is deleted. A breakdown by values that may be about a person, such as those of `data`, cannot be shared. Needs the scope `segments:write`. Also needs the scope `events:read`. Also needs the scope `contacts:read` if a question is about contacts or companies.
   */
  shareReport(input: ShareReportInput, options?: RequestOptions): Promise<ShareResult> {
    return this.call('POST /v1/reports/{report_id}/share', input, options)
  }

  /**
   * Check with the network whether an identity's session is valid.
   *
   * Needs the scope `identities:write`.
   */
  socialCheck(input: SocialCheckInput, options?: RequestOptions): Promise<SocialCheckResult> {
    return this.call('GET /v1/identities/{identity_id}/social/check', input, options)
  }

  /**
   * Log an identity in to the social network.
   *
   * Needs the scope `identities:write`.
   */
  socialLogin(input: SocialLoginInput, options?: RequestOptions): Promise<SocialLoginResult> {
    return this.call('POST /v1/identities/{identity_id}/social/login', input, options)
  }

  /**
   * Submit the two-factor code that the network requested.
   *
   * Needs the scope `identities:write`.
   */
  socialLoginCode(input: SocialLoginCodeInput, options?: RequestOptions): Promise<SocialLoginCodeResult> {
    return this.call('POST /v1/identities/{identity_id}/social/code/{session_id}', input, options)
  }

  /**
   * Get the status of a login; poll until it is completed or failed.
   *
   * Needs the scope `identities:write`.
   */
  socialLoginStatus(input: SocialLoginStatusInput, options?: RequestOptions): Promise<SocialLoginStatusResult> {
    return this.call('GET /v1/identities/{identity_id}/social/status/{session_id}', input, options)
  }

  /**
   * Start a sign-in at a provider and get the URL where the person signs in.
   *
   * The URL works once, for 10 minutes. The provider then redirects to the dashboard, which completes the sign-in. You can also complete it yourself with `POST /v1/authorizations/complete`. Only the actor that started it can complete it. Needs the scope of the purpose: `identities:write` for a mailbox, `settings:write` for a connection. Also needs the scopes `contacts:read` and `contacts:write` for a mailbox. Also needs the scopes `contacts:write`, `companies:write` and `events:write` for a connection.
   */
  startAuthorization(input: StartAuthorizationInput, options?: RequestOptions): Promise<StartAuthorizationResult> {
    return this.call('POST /v1/authorizations', input, options)
  }

  /**
   * Start an import, or continue one that failed; it runs in the background.
   *
   * Needs the scope `contacts:write`.
   */
  startImport(input: StartImportInput, options?: RequestOptions): Promise<ImportResult> {
    return this.call('POST /v1/imports/{import_id}/start', input, options)
  }

  /**
   * Get the figures of a dashboard by mail each Monday.
   *
   * For the person who is signed in; an API key has no mail address. The mail is sent from 08:00 in the time zone of the workspace. It has the main figure of each report in the week that is over, beside that of the week before. Needs the scope `events:read`.
   */
  subscribeToDashboard(input: SubscribeToDashboardInput, options?: RequestOptions): Promise<DashboardSubscriptionResult> {
    return this.call('PUT /v1/dashboards/{dashboard_id}/subscription', input, options)
  }

  /**
   * List the most frequent values of a property, to choose from in a filter.
   *
   * Needs the scope `segments:read`. Also needs the scope `contacts:read` for a property of contacts. Also needs the scope `companies:read` for `company_id`. Also needs the scope `events:read` for a field of events.
   */
  suggestSegmentValues(input: SuggestSegmentValuesInput, options?: RequestOptions): Promise<SuggestSegmentValuesResult> {
    return this.call('GET /v1/segments/suggestions', input, options)
  }

  /**
   * Write a small file to the destination and delete it.
   *
   * Needs the scope `data:export`. Also needs the scopes `contacts:read`, `companies:read` and `events:read`.
   */
  testWarehouseDestination(input: TestWarehouseDestinationInput, options?: RequestOptions): Promise<TestWarehouseDestinationResult> {
    return this.call('POST /v1/warehouse/{destination_id}/test', input, options)
  }

  /**
   * Send a sample of the subscribed event.
   *
   * Needs the scope `webhooks:write`. Also needs the scopes `contacts:read` and `events:read`.
   */
  testWebhook(input: TestWebhookInput, options?: RequestOptions): Promise<TestWebhookResult> {
    return this.call('POST /v1/webhooks/{subscription_id}/test', input, options)
  }

  /**
   * Queue a run of an agent, even if the agent is disabled.
   *
   * Needs the scope `agents:trigger`. Also needs the scopes `contacts:read` and `events:read` with `contact_ids`.
   */
  triggerAgent(input: TriggerAgentInput, options?: RequestOptions): Promise<TriggerAgentResult> {
    return this.call('POST /v1/agents/{agent_id}/trigger', input, options)
  }

  /**
   * Undo decisions independently; the actions wait for approval again.
   *
   * An approval can be undone until the service begins to execute the action: approve with `hold_seconds` to have time for it. A rejection can be undone for a minute. If a decision cannot be undone, it has an `error`, and the others are not affected. Needs the scope `agents:approve`.
   */
  undoDecisions(input: UndoDecisionsInput, options?: RequestOptions): Promise<UndoDecisionsResult> {
    return this.call('POST /v1/approvals/undo', input, options)
  }

  /**
   * Undo an import: delete the contacts it created and restore the values it replaced.
   *
   * What was changed since is kept; see GET /v1/imports/:import_id/kept. Possible for seven days after the import. Needs the scope `contacts:write`.
   */
  undoImport(input: UndoImportInput, options?: RequestOptions): Promise<ImportResult> {
    return this.call('POST /v1/imports/{import_id}/undo', input, options)
  }

  /**
   * Unmerge a contact.
   *
   * Restores the contact, with its visitors, events and notes, and reverts the changes of the merge to the survivor. Everything since the merge stays with the survivor. Merges into one contact are undone in reverse order. `If-Match` is the ETag of the contact that survived the merge; the response has the ETag of the restored one. Needs the scope `contacts:write`.
   */
  unmergeContact(input: UnmergeContactInput, options?: RequestOptions): Promise<UnmergeContactResult> {
    return this.call('POST /v1/contacts/{contact_id}/unmerge', input, options)
  }

  /**
   * Delete the link that shows a dashboard to anybody; it shows nothing from then on.
   *
   * Needs the scope `segments:write`.
   */
  unshareDashboard(input: UnshareDashboardInput, options?: RequestOptions): Promise<UnshareDashboardResult> {
    return this.call('DELETE /v1/dashboards/{dashboard_id}/share', input, options)
  }

  /**
   * Delete the link that shows a report to anybody; it shows nothing from then on.
   *
   * Needs the scope `segments:write`.
   */
  unshareReport(input: UnshareReportInput, options?: RequestOptions): Promise<UnshareReportResult> {
    return this.call('DELETE /v1/reports/{report_id}/share', input, options)
  }

  /**
   * Stop the mail of a dashboard to the person who is signed in.
   *
   * Needs the scope `events:read`.
   */
  unsubscribeFromDashboard(input: UnsubscribeFromDashboardInput, options?: RequestOptions): Promise<UnsubscribeFromDashboardResult> {
    return this.call('DELETE /v1/dashboards/{dashboard_id}/subscription', input, options)
  }

  /**
   * Change an agent; omitted fields keep their values, and null removes a setting.
   *
   * Inside playbook, monitoring and llm_config, too, only the fields that are sent change. Runs in progress keep the settings with which they started. The agent as it is after the change decides about further scopes; to turn it off, with `enabled: false` alone, `agents:write` is enough. Needs the scope `agents:write`. Also needs the scopes `contacts:read` and `events:read` for an agent with a `monitoring.filter` or `monitoring.triggers`. Also needs the scope `contacts:write` for an agent with a capability that writes to contacts: `notes` or `crm_sync`. Also needs the scope `agents:approve` for an agent with `playbook.require_approval: false`. Also needs the scopes `contacts:read`, `companies:read` and `events:read` for an agent with `llm_config.base_url`. Also needs the scope `events:read` for an agent with a `goal`.
   */
  updateAgent(input: UpdateAgentInput, options?: RequestOptions): Promise<AgentResult> {
    return this.call('PATCH /v1/agents/{agent_id}', input, options)
  }

  /**
   * Change the tenant's rules for all its agents; omitted fields keep their values.
   *
   * Needs the scope `agents:write`.
   */
  updateAgentSettings(input: UpdateAgentSettingsInput = {}, options?: RequestOptions): Promise<UpdateAgentSettingsResult> {
    return this.call('PATCH /v1/agent-settings', input, options)
  }

  /**
   * Change an alert, or turn it on or off; omitted fields keep their values.
   *
   * With another report, number or condition, and when it is turned on, the alert starts afresh: it is checked at once, and fires if its condition is true. Needs the scope `segments:write`. Also needs the scope `events:read`.
   */
  updateAlert(input: UpdateAlertInput, options?: RequestOptions): Promise<UpdateAlertResult> {
    return this.call('PATCH /v1/alerts/{alert_id}', input, options)
  }

  /**
   * Change the name of an API key, or the tools that it may use over MCP.
   *
   * To allow it more tools, you need all of its scopes. Needs the scope `keys:write`.
   */
  updateApiKey(input: UpdateApiKeyInput, options?: RequestOptions): Promise<UpdateApiKeyResult> {
    return this.call('PATCH /v1/api-keys/{key_id}', input, options)
  }

  /**
   * Change a company; properties are merged.
   *
   * Needs the scope `companies:write`.
   */
  updateCompany(input: UpdateCompanyInput, options?: RequestOptions): Promise<CompanyResult> {
    return this.call('PUT /v1/companies/{company_id}', input, options)
  }

  /**
   * Change what is computed; omitted fields keep their values.
   *
   * null removes `property` or `within_days`. Records keep their values until they get the new ones in the background. Needs the scope `contacts:write`. Also needs the scope `events:read`. Also needs the scope `companies:write` for companies.
   */
  updateComputedProperty(input: UpdateComputedPropertyInput, options?: RequestOptions): Promise<UpdateComputedPropertyResult> {
    return this.call('PATCH /v1/computed-properties/{computed_property_id}', input, options)
  }

  /**
   * Choose the tools that an application may use.
   *
   * Needs the scope settings:write, except for an application that you connected yourself. Only the person who connected it can allow it more tools.
   */
  updateConnectedApp(input: UpdateConnectedAppInput, options?: RequestOptions): Promise<UpdateConnectedAppResult> {
    return this.call('PATCH /v1/connected-apps/{grant_id}', input, options)
  }

  /**
   * Replace the credentials or the settings of a connected system.
   *
   * The new values are tested first. Without credentials, the connection keeps its sign-in; settings that change the host require new credentials. If the settings change, everything is read again. To connect another account, create a connection with another source. Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  updateConnection(input: UpdateConnectionInput, options?: RequestOptions): Promise<ConnectionResult> {
    return this.call('PATCH /v1/connections/{connection_id}', input, options)
  }

  /**
   * Change a contact; properties are merged.
   *
   * Needs the scope `contacts:write`.
   */
  updateContact(input: UpdateContactInput, options?: RequestOptions): Promise<ContactResult> {
    return this.call('PUT /v1/contacts/{contact_id}', input, options)
  }

  /**
   * Change a dashboard; omitted fields keep their values.
   *
   * Needs the scope `segments:write`. Also needs the scope `events:read`.
   */
  updateDashboard(input: UpdateDashboardInput, options?: RequestOptions): Promise<UpdateDashboardResult> {
    return this.call('PATCH /v1/dashboards/{dashboard_id}', input, options)
  }

  /**
   * Switch enrichers on or off.
   *
   * What was filled before stays. A contact is looked at again when something that the enricher reads changes, or with POST /v1/contacts/{contact_id}/enrich. Needs the scope `settings:write`.
   */
  updateEnrichment(input: UpdateEnrichmentInput = {}, options?: RequestOptions): Promise<EnrichmentResult> {
    return this.call('PATCH /v1/enrichment', input, options)
  }

  /**
   * Change the name, the mapping or the signature of an incoming webhook, or turn it on or off.
   *
   * While it is off, it rejects bodies. A new mapping applies to bodies that arrive from now on; with `retry_bodies`, also to kept bodies that were not recorded. Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write`.
   */
  updateHook(input: UpdateHookInput, options?: RequestOptions): Promise<UpdateHookResult> {
    return this.call('PATCH /v1/hooks/{hook_id}', input, options)
  }

  /**
   * Change an identity; omitted fields keep their values.
   *
   * Needs the scope `identities:write`.
   */
  updateIdentity(input: UpdateIdentityInput, options?: RequestOptions): Promise<IdentityResult> {
    return this.call('PUT /v1/identities/{identity_id}', input, options)
  }

  /**
   * Change the role of a member.
   *
   * Takes effect with their next request, and deletes the invitations that they could no longer create. Only an owner can add or change owners. An API key can only grant roles whose scopes it has in full, and never `owner`. Needs the scope `settings:write`.
   */
  updateMember(input: UpdateMemberInput, options?: RequestOptions): Promise<MemberResult> {
    return this.call('PATCH /v1/members/{user_id}', input, options)
  }

  /**
   * Replace the content of a note.
   *
   * Needs the scope `contacts:write`.
   */
  updateNote(input: UpdateNoteInput, options?: RequestOptions): Promise<NoteResult> {
    return this.call('PATCH /v1/contacts/{contact_id}/notes/{note_id}', input, options)
  }

  /**
   * Change the name or the question of a report; its kind stays.
   *
   * Another question is asked once before it is saved, as a new one is. Needs the scope `segments:write`. Also needs the scope `events:read`.
   */
  updateReport(input: UpdateReportInput, options?: RequestOptions): Promise<UpdateReportResult> {
    return this.call('PATCH /v1/reports/{report_id}', input, options)
  }

  /**
   * Change the name, the description or the filter of a segment.
   *
   * With another filter, the members are counted again. Contacts that enter or leave record no event. Needs the scope `segments:write`. Also needs the scope `contacts:read` for contacts. Also needs the scope `companies:read` for companies. Also needs the scope `events:read` with event conditions in `filter`.
   */
  updateSegment(input: UpdateSegmentInput, options?: RequestOptions): Promise<UpdateSegmentResult> {
    return this.call('PATCH /v1/segments/{segment_id}', input, options)
  }

  /**
   * Rename a source.
   *
   * Needs the scope `settings:write`. Also needs the scopes `contacts:write`, `companies:write` and `events:write` for a server source.
   */
  updateSource(input: UpdateSourceInput, options?: RequestOptions): Promise<UpdateSourceResult> {
    return this.call('PATCH /v1/sources/{source_id}', input, options)
  }

  /**
   * Change the tenant's settings.
   *
   * Needs the scope `settings:write`.
   */
  updateTenant(input: UpdateTenantInput = {}, options?: RequestOptions): Promise<UpdateTenantResult> {
    return this.call('PATCH /v1/tenant', input, options)
  }

  /**
   * Change the name, the schedule or the access key of an export destination.
   *
   * Needs the scope `data:export`. Also needs the scopes `settings:write`, `contacts:read`, `companies:read` and `events:read`.
   */
  updateWarehouseDestination(input: UpdateWarehouseDestinationInput, options?: RequestOptions): Promise<UpdateWarehouseDestinationResult> {
    return this.call('PATCH /v1/warehouse/{destination_id}', input, options)
  }

  /**
   * Change the URL, the URL filter, the headers or the text of a webhook subscription.
   *
   * Pending deliveries are sent to the new URL. `headers` replaces all earlier ones. The event and the format cannot change. Needs the scope `webhooks:write`. Also needs the scopes `contacts:read` and `events:read`.
   */
  updateWebhook(input: UpdateWebhookInput, options?: RequestOptions): Promise<UpdateWebhookResult> {
    return this.call('PATCH /v1/webhooks/{subscription_id}', input, options)
  }

  /**
   * Upload a CSV file of contacts; nothing is imported yet.
   *
   * The body is the file, at most 500 MB, also compressed with gzip (`Content-Encoding`). The encoding and the delimiter are detected, and exports of HubSpot, Mailchimp and Attio recognized. The response has the columns with samples and a proposed mapping. Needs the scope `contacts:write`.
   */
  uploadImport(input: UploadImportInput, options?: RequestOptions): Promise<ImportResult> {
    return this.call('POST /v1/imports', input, options, 'text')
  }

  /**
   * Look for the TXT record, the file and the meta tag of a domain, and mark it as verified if one is there.
   *
   * Needs the scope `settings:write`.
   */
  verifyDomain(input: VerifyDomainInput, options?: RequestOptions): Promise<VerifyDomainResult> {
    return this.call('POST /v1/domains/{domain_id}/verify', input, options)
  }

  /**
   * Write contacts to a connected system now, and create those that it does not have.
   *
   * The contacts are written within seconds, with the properties that are written back. A contact that the system does not have is created, whether or not `create_missing` is set. A record with the same email is linked instead. Needs the scope `contacts:write`. Also needs the scope `contacts:read`.
   */
  writeContactsBack(input: WriteContactsBackInput, options?: RequestOptions): Promise<WriteContactsBackResult> {
    return this.call('POST /v1/connections/{connection_id}/write-back', input, options)
  }
}
