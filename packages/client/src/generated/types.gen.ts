// Generated from openapi.json by `npm run generate`.

export type Action = {
    run_id: string;
    contact_id: string;
    action_index: number;
    type: 'email_message' | 'social_message' | 'social_connect' | 'note' | 'crm_update';
    params: {
        [key: string]: unknown;
    };
    status: 'pending_approval' | 'approved' | 'rejected' | 'executed' | 'failed';
    identity_id: string | null;
    /**
     * Whether it was approved automatically.
     */
    auto_approved: boolean;
    /**
     * Who proposed it with proposeAction; null if the agent itself did.
     */
    proposed_by: Actor | null;
    /**
     * Whether a person changed the params when approving it.
     */
    edited: boolean;
    /**
     * The version of the playbook that the agent followed; null if someone else proposed it.
     */
    playbook_version: number | null;
    /**
     * The results of the checks before it was proposed and before it was executed.
     */
    guardrails: Array<Guardrail>;
    decided_by: Actor | null;
    decided_at: string | null;
    /**
     * Why a person rejected it.
     */
    reason: string | null;
    due_at: string | null;
    executed_at: string | null;
    result: {
        [key: string]: unknown;
    } | null;
    error: ActionError | null;
    created_at: string;
};

export type ActionError = {
    code: string;
    message: string;
    /**
     * The guardrail that stopped it.
     */
    rule?: string;
};

export type ActionPlace = {
    run_id: string;
    contact_id: string;
    action_index: number;
};

export type ActionResult = {
    status: 'success';
    action: Action;
    warnings?: Array<string>;
};

export type ActionsPage = {
    status: 'success';
    actions: Array<Action>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ActiveContact = {
    contact: JoinedContact;
    engagement: Engagement;
};

export type ActivityEvent = {
    id: string;
    event: string;
    url: string | null;
    timestamp: string;
    title: string | null;
};

export type Actor = {
    kind: 'user' | 'api_key' | 'command_line' | 'agent' | 'service';
    id?: string;
    name?: string;
};

export type AddSuppressionResult = {
    status: 'success';
    suppression: Suppression;
    /**
     * false if the address was already suppressed.
     */
    added: boolean;
    warnings?: Array<string>;
};

export type Agent = {
    agent_id: string;
    _id: string;
    name: string;
    description: string | null;
    playbook_template: string | null;
    /**
     * As sent.
     */
    playbook: {
        [key: string]: unknown;
    };
    capabilities: Array<string>;
    identity_id: string | null;
    monitoring: {
        filter?: SegmentFilter | {
            segment_id: string;
        };
        schedule_cron?: string;
        time_zone?: string;
        triggers?: Array<AgentTrigger>;
        cooldown_hours: number;
        max_contacts_per_run: number;
    };
    /**
     * As sent. API keys are never stored here.
     */
    llm_config: {
        [key: string]: unknown;
    };
    goal: AgentGoal | null;
    /**
     * Counts the changes of what the playbook says, from 1.
     */
    playbook_version: number;
    enabled: boolean;
    next_run_at: string | null;
    created_at: string;
    updated_at: string;
};

/**
 * The event that counts as success in the outcomes of the agent.
 */
export type AgentGoal = {
    event: string;
    /**
     * Conditions on the event alone; all must be true.
     */
    where?: Array<PropertyCondition | NestedFilter>;
};

/**
 * The provider and the model. API keys come from the environment of the service and are never sent here.
 */
export type AgentModel = {
    provider?: 'openai' | 'anthropic' | 'openai_compatible' | 'template' | null;
    model?: string | null;
    base_url?: string | null;
    temperature?: number | null;
    max_tokens?: number | null;
    tools_max?: number | null;
    redact_personal_data?: boolean | null;
};

/**
 * Which contacts are evaluated, and when.
 */
export type AgentMonitoring = {
    filter?: {
        [key: string]: unknown;
    } | null;
    schedule_cron?: string | null;
    time_zone?: string | null;
    triggers?: Array<AgentTrigger> | null;
    cooldown_hours?: number | null;
    max_contacts_per_run?: number | null;
};

export type AgentOutcomes = {
    playbook_version: number;
    since: string;
    /**
     * When the next version replaced it; null for the current one.
     */
    until: string | null;
    playbook_template: string | null;
    /**
     * Actions that the agent proposed: the sum of `waiting`, `approved` and `rejected`.
     */
    proposed: number;
    /**
     * Actions that wait for approval now.
     */
    waiting: number;
    /**
     * Actions that were approved, by a person or automatically.
     */
    approved: number;
    /**
     * Approved actions that nobody had to approve, such as notes.
     */
    auto_approved: number;
    /**
     * Approved actions that a person changed.
     */
    edited: number;
    /**
     * Actions that a person rejected or a guardrail stopped.
     */
    rejected: number;
    /**
     * Rejected actions that a guardrail stopped.
     */
    stopped_by_guardrails: number;
    /**
     * Approved actions that could not be executed.
     */
    failed: number;
    /**
     * Messages that were sent. Notes and changes of properties are approved, but not sent.
     */
    sent: number;
    /**
     * Sent messages that are less than 14 days old: what follows them may still change.
     */
    sent_recently: number;
    /**
     * Sent messages after which the contact wrote within 14 days.
     */
    replied: number;
    /**
     * Sent messages after which the contact had the event of the goal within 14 days; null without a goal.
     */
    goal_reached: number | null;
    /**
     * Sent messages after which the contact opted out within 14 days, and has not agreed to mail again.
     */
    unsubscribed: number;
};

/**
 * Custom playbook: a prompt in Markdown, and settings.
 */
export type AgentPlaybook = {
    playbook_md?: string | null;
    require_approval?: boolean | null;
    max_cost_usd_per_run?: number | null;
    variables?: {
        [key: string]: unknown;
    } | null;
    messages?: {
        [key: string]: unknown;
    } | null;
    config?: {
        [key: string]: unknown;
    } | null;
};

export type AgentResult = {
    status: 'success';
    agent: Agent;
    warnings?: Array<string>;
};

export type AgentSettings = {
    /**
     * The minimum number of days between two outreach actions to a contact, by any agent; 0 for no limit.
     */
    outreach_interval_days: number;
    /**
     * The hours in which no outreach is sent, as HH:MM; null for none.
     */
    quiet_hours: QuietHours | null;
    /**
     * An IANA name, used for contacts without a `timezone` property and for daily limits.
     */
    time_zone: string;
    /**
     * Maximum outreach actions per identity and day.
     */
    daily_limit_per_identity: number;
    /**
     * The number of days after a reply in which agents send nothing; 0 for no pause.
     */
    reply_pause_days: number;
    /**
     * The maximum cost of models in a calendar month (UTC); null for no cap.
     */
    monthly_cost_cap_usd: number | null;
};

/**
 * What has an agent look at a contact: `event`, with `where` if not every such event counts, `segment_entered`, or `score`.
 */
export type AgentTrigger = {
    event?: string;
    /**
     * Conditions on the event alone; all must be true.
     */
    where?: Array<PropertyCondition | NestedFilter>;
    /**
     * The id of a segment of contacts.
     */
    segment_entered?: string;
    /**
     * A score of contacts, which is a computed property.
     */
    score?: {
        name: string;
        /**
         * The score rises from below this to at least this.
         */
        gte: number;
    };
};

export type AggregateResult = {
    status: 'success';
    entity: string;
    group_by: string;
    metric: 'count' | 'avg' | 'sum' | 'min' | 'max' | 'median' | 'p90' | 'unique_contacts' | 'unique_visitors' | 'unique_people' | 'unique_sessions';
    buckets: Array<{
        /**
         * null if the value is missing. A record counts in the bucket of each item of a list.
         */
        key: string | number | boolean | null;
        /**
         * null if no record in the bucket has a number.
         */
        value: number | null;
        /**
         * Events by contact_id only: the contact, or null if it was deleted.
         */
        contact?: JoinedContact | null;
        /**
         * Events by company_id only: the company.
         */
        company?: JoinedCompany | null;
    }>;
    /**
     * The number of matching records, for every metric.
     */
    total: number;
    /**
     * Events only: the number of distinct values of the dimension, not limited by `limit`; null is not counted.
     */
    distinct_groups?: number;
    /**
     * Events only: the same as total.
     */
    total_matching?: number;
    warnings?: Array<string>;
};

export type AggregationOfCompanies = {
    entity: 'companies';
    /**
     * What to group by: a property, or one of these.
     * - `industry`: Property industry.
     * - `country`: Property country.
     * - `state`: Property state.
     * - `lifecycle_stage`: Property lifecyclestage.
     * - `size_bucket`: Range of property numberofemployees: 1-10, 11-50, 51-200, 201-500, 501-1000, 1001-5000, 5001-10000, 10001+.
     * - `employee_band`: The same as size_bucket.
     * - `revenue_bucket`: Range of property annualrevenue, lower bound included: <1M, 1M-10M, 10M-50M, 50M-100M, 100M-500M, 500M-1B, 1B+.
     * - `contact_count`: Number of contacts that belong to the company.
     *
     * Any other name is a property. `properties.<key>` is a property whatever its name. One that nothing has gives a single bucket with the key null, and a warning.
     */
    group_by: string;
    /**
     * Filters of companies; all must match.
     */
    filters?: {
        /**
         * Exact name.
         */
        name?: string;
        /**
         * Exact domain.
         */
        domain?: string;
        /**
         * Exact industry.
         */
        industry?: string;
        /**
         * Exact country.
         */
        country?: string;
        /**
         * Exact state.
         */
        state?: string;
        /**
         * Minimum number of employees.
         */
        min_employees?: number;
        /**
         * Maximum number of employees.
         */
        max_employees?: number;
    };
    /**
     * Conditions on companies, as those of filters; all must be true.
     */
    where?: Array<unknown>;
    /**
     * The figure of each bucket: the number of records, or one computed from the numbers in metric_field, exact to 15 significant digits. median and p90 interpolate between two values.
     */
    metric?: 'count' | 'avg' | 'sum' | 'min' | 'max' | 'median' | 'p90';
    /**
     * Required for avg, sum, min, max, median and p90: a property or, for events, `data.<path>` or a key of data. Numbers count, and texts of numbers such as "12"; of a list in data, each item. A bucket without any has the value null.
     */
    metric_field?: string;
    /**
     * Maximum number of buckets.
     */
    limit?: number;
    /**
     * IANA time zone of hours, days, weeks and months, and of dates without a time in filters. Default: the workspace's.
     */
    time_zone?: string;
};

export type AggregationOfContacts = {
    entity: 'contacts';
    /**
     * What to group by: a property, or one of these.
     * - `lifecycle_stage`: Property lifecyclestage.
     * - `lead_status`: Property lead_status.
     * - `industry`: Property industry.
     * - `country`: Property country.
     * - `state`: Property state.
     * - `city`: Property city.
     * - `company`: Property company, a name.
     * - `job_title`: Property jobtitle.
     * - `company_id`: Associated company; contacts without one are in no bucket.
     * - `created_day`: Day of creation in `time_zone`, `YYYY-MM-DD`: the most recent days, in chronological order.
     * - `has_linkedin`: Whether the contact has a social-network profile.
     * - `has_social_profile`: The same as has_linkedin.
     *
     * Any other name is a property, or `company.<key>` for one of the company. `properties.<key>` is a property whatever its name. One that nothing has gives a single bucket with the key null, and a warning.
     */
    group_by: string;
    /**
     * Filters of contacts; all must match.
     */
    filters?: {
        /**
         * Exact value of the property company.
         */
        company?: string;
        /**
         * Lifecycle stage.
         */
        lifecycle_stage?: 'lead' | 'prospect' | 'mql' | 'sql' | 'opportunity' | 'customer' | 'evangelist' | 'subscriber' | 'other';
        /**
         * Exact lead status.
         */
        lead_status?: string;
        /**
         * Exact industry.
         */
        industry?: string;
        /**
         * Exact country.
         */
        country?: string;
        /**
         * Exact state.
         */
        state?: string;
        /**
         * Exact city.
         */
        city?: string;
        /**
         * Part of the job title, ignoring case.
         */
        job_title?: string;
        /**
         * Created at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
         */
        created_after?: string;
        /**
         * Created at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
         */
        created_before?: string;
        /**
         * Only these contacts.
         */
        contact_ids?: Array<string>;
        /**
         * Contacts in this segment; 409 segment_counting while they are being counted.
         */
        segment_id?: string;
    };
    /**
     * Conditions on contacts, as those of filters; all must be true.
     */
    where?: Array<unknown>;
    /**
     * The figure of each bucket: the number of records, or one computed from the numbers in metric_field, exact to 15 significant digits. median and p90 interpolate between two values.
     */
    metric?: 'count' | 'avg' | 'sum' | 'min' | 'max' | 'median' | 'p90';
    /**
     * Required for avg, sum, min, max, median and p90: a property or, for events, `data.<path>` or a key of data. Numbers count, and texts of numbers such as "12"; of a list in data, each item. A bucket without any has the value null.
     */
    metric_field?: string;
    /**
     * Maximum number of buckets.
     */
    limit?: number;
    /**
     * IANA time zone of hours, days, weeks and months, and of dates without a time in filters. Default: the workspace's.
     */
    time_zone?: string;
};

export type AggregationOfEvents = {
    entity: 'events';
    /**
     * What to group by: a property, or one of these.
     * - `event_type`: Event name.
     * - `domain`: Host of the URL.
     * - `url`: Whole URL.
     * - `url_path`: Path of the URL.
     * - `title`: Page title.
     * - `text`: Text of the element.
     * - `element_type`: Type of the element, such as button.
     * - `element_id`: Id of the element.
     * - `class`: Full class attribute of the element. It varies a lot: to find an element, filter by class_contains.
     * - `analytics_user_id`: User id of another analytics tool.
     * - `device_type`: Device type, such as desktop.
     * - `browser`: Browser name, such as Chrome.
     * - `os`: Name of the operating system, such as macOS.
     * - `referring_domain`: Host of the referrer; none for the event's own site.
     * - `utm_source`: utm_source in the URL, such as newsletter.
     * - `utm_medium`: utm_medium in the URL, such as email.
     * - `utm_campaign`: utm_campaign in the URL.
     * - `utm_term`: utm_term in the URL.
     * - `utm_content`: utm_content in the URL.
     * - `country`: Country of the sender's network, such as DE.
     * - `region`: Region of the sender's network, if the table of addresses has regions.
     * - `city`: City of the sender's network, if the table of addresses has cities.
     * - `contact_id`: Identified contact; anonymous events are in no bucket.
     * - `visitor_id`: Visitor, identified or anonymous.
     * - `session_id`: Session.
     * - `company_id`: Company that the event's contact belongs to now; other events make no bucket.
     * - `hour`: Hour, `YYYY-MM-DDTHH:00+01:00`, in `time_zone`: the most recent ones, in chronological order.
     * - `day`: Day, `YYYY-MM-DD`, in `time_zone`: the most recent ones, in chronological order.
     * - `week`: ISO week, `YYYY-Www`, in `time_zone`: the most recent ones, in chronological order.
     * - `month`: Month, `YYYY-MM`, in `time_zone`: the most recent ones, in chronological order.
     * - `is_bot`: Whether the sender identifies itself as a bot.
     *
     * Other fields of events; `data.<path>` for a value in data, where dots go into objects and `\.` is a dot in a key; `contact.<key>` and `company.<key>` for what the event's contact and its company are now. One that nothing has gives a single bucket with the key null, and a warning.
     */
    group_by: string;
    /**
     * Filters of events; all must match.
     */
    filters?: {
        /**
         * Exact event name.
         */
        event_type?: string;
        /**
         * One of these event names.
         */
        event_types?: Array<string>;
        /**
         * Events of this contact.
         */
        contact_id?: string;
        /**
         * Events of one of these contacts.
         */
        contact_ids?: Array<string>;
        /**
         * Events of this visitor.
         */
        visitor_id?: string;
        /**
         * Events of this session.
         */
        session_id?: string;
        /**
         * Events with this exact user id of another analytics tool.
         */
        analytics_user_id?: string;
        /**
         * Exact host of the URL.
         */
        domain?: string;
        /**
         * Exact URL.
         */
        url?: string;
        /**
         * Exact path of the URL.
         */
        url_path?: string;
        /**
         * Part of the URL, ignoring case.
         */
        url_contains?: string;
        /**
         * Part of the page title, ignoring case.
         */
        title_contains?: string;
        /**
         * Exact text of the element.
         */
        text?: string;
        /**
         * Part of the element's text, ignoring case.
         */
        text_contains?: string;
        /**
         * Exact type of the element, such as button.
         */
        element_type?: string;
        /**
         * Exact id of the element.
         */
        element_id?: string;
        /**
         * Part of the element's class, ignoring case.
         */
        class_contains?: string;
        /**
         * Exact host of the referrer, without www.
         */
        referring_domain?: string;
        /**
         * Exact utm_source of the URL.
         */
        utm_source?: string;
        /**
         * Exact utm_medium of the URL.
         */
        utm_medium?: string;
        /**
         * Exact utm_campaign of the URL.
         */
        utm_campaign?: string;
        /**
         * Exact utm_term of the URL.
         */
        utm_term?: string;
        /**
         * Exact utm_content of the URL.
         */
        utm_content?: string;
        /**
         * Exact country of the sender, such as DE.
         */
        country?: string;
        /**
         * Exact region of the sender.
         */
        region?: string;
        /**
         * Exact city of the sender.
         */
        city?: string;
        /**
         * Exact device type, such as desktop.
         */
        device_type?: string;
        /**
         * Exact browser name, such as Chrome.
         */
        browser?: string;
        /**
         * Exact name of the operating system, such as macOS.
         */
        os?: string;
        /**
         * Whether the sender identifies itself as a bot.
         */
        is_bot?: boolean;
        /**
         * Whether the URL's host differs from the host of the page that sent the event.
         */
        origin_mismatch?: boolean;
        /**
         * Only events of a known contact.
         */
        identified_only?: boolean;
        /**
         * At or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
         */
        date_after?: string;
        /**
         * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
         */
        date_before?: string;
        /**
         * Exact page title.
         */
        title?: string;
    };
    /**
     * Conditions on events, as those of filters; all must be true.
     */
    where?: Array<unknown>;
    /**
     * The figure of each bucket: the number of records, or one computed from the numbers in metric_field, exact to 15 significant digits. median and p90 interpolate between two values. unique_contacts, unique_visitors and unique_sessions count different ones; unique_people counts contacts, across their devices and their anonymous past, and visitors that belong to none.
     */
    metric?: 'count' | 'avg' | 'sum' | 'min' | 'max' | 'median' | 'p90' | 'unique_contacts' | 'unique_visitors' | 'unique_people' | 'unique_sessions';
    /**
     * Required for avg, sum, min, max, median and p90: a property or, for events, `data.<path>` or a key of data. Numbers count, and texts of numbers such as "12"; of a list in data, each item. A bucket without any has the value null.
     */
    metric_field?: string;
    /**
     * Maximum number of buckets.
     */
    limit?: number;
    /**
     * IANA time zone of hours, days, weeks and months, and of dates without a time in filters. Default: the workspace's.
     */
    time_zone?: string;
    /**
     * system: includes system events, such as contact_created.
     */
    include?: 'system';
    people?: SegmentFilter;
};

export type Alert = {
    alert_id: string;
    name: string;
    report_id: string;
    report_name: string;
    /**
     * Which number. trend: `{"series": "A"}`, in the newest complete interval, or with `"running": true` in the one that is not over yet; `{}` if the question has a formula. funnel: `{"step": 2, "figure": "from_first"}`, where figure is count, from_first or from_previous. retention: `{"interval": 1}`, the average of that interval.
     */
    at: {
        [key: string]: unknown;
    };
    condition: AlertCondition;
    check_every: 'hour' | 'day';
    /**
     * The members who get a mail.
     */
    mail_to: Array<string>;
    enabled: boolean;
    /**
     * new: not checked yet. quiet: the condition is false. fired: it is true. failing: the last check had an error. off: not enabled.
     */
    state: 'new' | 'quiet' | 'fired' | 'failing' | 'off';
    last_checked_at: string | null;
    /**
     * The interval that was judged last.
     */
    last_interval: string | null;
    /**
     * Its number; null if it has none, and if the report is about contacts and you lack the scope `contacts:read`.
     */
    last_value: number | null;
    /**
     * The part of the people from which the number is estimated; null if everybody counts.
     */
    sample: number | null;
    /**
     * When it last fired.
     */
    triggered_at: string | null;
    /**
     * Why the last check failed.
     */
    last_error: AlertError | null;
    created_at: string;
    updated_at: string;
};

export type AlertCondition = {
    /**
     * above and below: the limit itself is neither. changed_by: up or down by more than the limit, since the same hour or day of the week before, or since the week or month before.
     */
    operator: 'above' | 'below' | 'changed_by';
    /**
     * The limit. For from_first, from_previous and a retention, a part of 1, such as 0.2.
     */
    value: number;
    /**
     * For changed_by: the limit is in percent of the earlier number. Any change from 0 is above it.
     */
    percent?: boolean;
};

export type AlertError = {
    code: string;
    message: string;
};

export type AlertPreviewPoint = {
    interval: string;
    value: number | null;
    fires: boolean;
};

export type AlertResult = {
    status: 'success';
    alert: Alert;
    warnings?: Array<string>;
};

export type AlertsPage = {
    status: 'success';
    alerts: Array<Alert>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type AnswerMapping = {
    /**
     * An answer counts as found only if each of these paths has one of the values.
     */
    only_when?: Array<MappingCondition>;
    contact?: {
        properties: {
            [key: string]: HookField;
        };
    };
    company?: CompanyMapping;
};

export type ApiKey = {
    key_id: string;
    name: string;
    scopes: Array<string>;
    /**
     * Whether personal data is hidden from AI agents that use the key over MCP.
     */
    redact_personal_data: boolean;
    /**
     * Whether the key works only at /mcp, because it was created with `redact_personal_data: true`.
     */
    mcp_only: boolean;
    /**
     * The tools that it may use over MCP: their names, `all` for every tool that the scopes allow, or an empty list for none.
     */
    tools: Array<string>;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
    revoked_at: string | null;
};

export type ApiKeyResult = {
    status: 'success';
    key: ApiKey;
    warnings?: Array<string>;
};

export type ApiKeysPage = {
    status: 'success';
    keys: Array<ApiKey>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ApprovalsPage = {
    status: 'success';
    actions: Array<Action & {
        agent: {
            agent_id: string;
            name: string;
        };
        contact: {
            contact_id: string;
            email: string | null;
            firstname: string | null;
            lastname: string | null;
            company: string | null;
            jobtitle: string | null;
            lifecyclestage: string | null;
        } | null;
        identity: {
            identity_id: string;
            firstName: string;
            lastName: string;
            address: string | null;
        } | null;
        reasoning: string | null;
    }>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ApproveActionsResult = {
    status: 'success';
    decisions: Array<Decision>;
    warnings?: Array<string>;
};

export type AskResult = {
    status: 'success';
    /**
     * Markdown. Names of contacts link to their pages in the dashboard.
     */
    answer: string;
    /**
     * What the model looked up, in order.
     */
    calls: Array<ToolCall>;
    model: string;
    usage: TokenUsage;
    warnings?: Array<string>;
};

export type Attachment = {
    filename: string | null;
    content_type: string;
    bytes: number;
};

export type AuditLogEntry = {
    entry_id: string;
    at: string;
    actor: {
        kind: 'user' | 'api_key' | 'command_line' | 'agent' | 'service';
        id?: string;
        name?: string;
    };
    action: string;
    subject_kind: string;
    subject_id: string | null;
    details: {
        [key: string]: unknown;
    };
    subject_name: string | null;
    subject_exists: boolean | null;
};

export type AuditLogEntryResult = {
    status: 'success';
    entry: AuditLogEntry;
    warnings?: Array<string>;
};

export type AuditLogPage = {
    status: 'success';
    entries: Array<AuditLogEntry>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type BatchActivityResult = {
    status: 'success';
    /**
     * The contacts in `activity`.
     */
    contact_count: number;
    activity: {
        [key: string]: {
            events: Array<ActivityEvent>;
            /**
             * The number of events of the contact in the time range.
             */
            total_events: number;
        };
    };
    warnings?: Array<string>;
};

export type BatchDetailsResult = {
    status: 'success';
    /**
     * Present if `entity_type` is contacts.
     */
    contacts?: Array<Contact>;
    /**
     * Present if `entity_type` is companies.
     */
    companies?: Array<Company>;
    warnings?: Array<string>;
};

export type BatchEngagementResult = {
    status: 'success';
    engagement: {
        [key: string]: Engagement;
    };
    warnings?: Array<string>;
};

export type CancelEnrichmentRunResult = {
    status: 'success';
    run: EnrichmentRun;
    /**
     * false if it was already cancelled.
     */
    cancelled: boolean;
    warnings?: Array<string>;
};

export type CancelImportResult = {
    status: 'success';
    import: Import;
    /**
     * false if it was already cancelled.
     */
    cancelled: boolean;
    warnings?: Array<string>;
};

export type ChangeCompaniesResult = {
    status: 'success';
    /**
     * How many records now are as requested.
     */
    done: number;
    /**
     * The records that did not change, and why. The others did.
     */
    failed: Array<UnchangedRecord>;
    next: string | null;
    warnings?: Array<string>;
};

export type ChangeContactsResult = {
    status: 'success';
    /**
     * How many records now are as requested.
     */
    done: number;
    /**
     * The records that did not change, and why. The others did.
     */
    failed: Array<UnchangedRecord>;
    next: string | null;
    warnings?: Array<string>;
};

export type CheckPlaybookResult = {
    status: 'success';
    unknown: Array<string>;
    warnings?: Array<string>;
};

export type CloseTenantResult = {
    status: 'success';
    tenant_id: string;
    closed_at: string;
    deletes_at: string;
    /**
     * The receipt, with `now`; null while the tenant can be reopened.
     */
    deletion: DeletionReceipt | null;
    warnings?: Array<string>;
};

export type ColumnMapping = {
    /**
     * Index of the column, from 0.
     */
    column: number;
    /**
     * `full_name`: the name of a person, which is divided into `firstname` and `lastname`, `salutation` and `name_suffix`. Columns with these properties win.
     */
    target: 'email' | 'external_id' | 'full_name' | 'property' | 'ignore';
    /**
     * The property, with the target `property`. `company` and `company_domain` name the company.
     */
    property?: string;
    /**
     * `number`: also of money, without its currency. `date`: a text as in ISO 8601, such as `2026-12-31`; a time without an offset is in UTC. `list`: the parts of each cell. `phone`: a text, with `+` in place of `00`.
     */
    type?: 'text' | 'number' | 'boolean' | 'date' | 'list' | 'phone';
    /**
     * How cells are written. Numbers: `decimal_point` (`1,250.5`) or `decimal_comma` (`1.250,5`); the default depends on the delimiter of the file. Dates: `day_first` (`31/12/2026`, the default) or `month_first` (`12/31/2026`). Lists: `commas` (the default) or `semicolons`, if the parts have commas themselves.
     */
    format?: 'decimal_point' | 'decimal_comma' | 'day_first' | 'month_first' | 'commas' | 'semicolons';
};

export type CompactEvent = {
    event_id: string;
    _id: string;
    event: string;
    timestamp: string;
    url: string | null;
    title: string | null;
};

export type CompaniesPage = {
    status: 'success';
    /**
     * Absent with `count_only`.
     */
    companies?: Array<Company>;
    pagination?: Pagination;
    /**
     * The only field with `count_only`; absent otherwise.
     */
    count?: number;
    warnings?: Array<string>;
};

export type Company = {
    company_id: string;
    _id: string;
    name: string | null;
    domain: string | null;
    /**
     * Your own id of the company, from a group call of an SDK.
     */
    external_id: string | null;
    properties: {
        [key: string]: string | number | boolean | Array<string | number | boolean>;
    };
    created_at: string;
    updated_at: string;
};

export type CompanyContactsPage = {
    status: 'success';
    contacts: Array<ListedContact>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type CompanyEventsPage = {
    status: 'success';
    events: Array<Event>;
    pagination: Pagination;
    warnings?: Array<string>;
};

/**
 * The company, found or created by its domain. A contact without a company is linked to it.
 */
export type CompanyMapping = {
    domain: HookField;
    name?: HookField;
    properties?: {
        [key: string]: HookField;
    };
};

export type CompanyResult = {
    status: 'success';
    company: Company;
    warnings?: Array<string>;
};

/**
 * The answer for the compared range.
 */
export type ComparedFunnel = {
    steps: Array<FunnelStep>;
    /**
     * With `breakdown`, the steps of each value.
     */
    groups?: Array<FunnelGroup>;
};

/**
 * The answer for the compared range.
 */
export type ComparedPaths = {
    /**
     * The URL paths or events at each step, largest first: at most the 1,000 largest, and those of the links.
     */
    nodes: Array<PathNode>;
    /**
     * The largest links, in order.
     */
    links: Array<PathLink>;
    /**
     * How often the links that are left out were taken.
     */
    others: number;
};

export type ComparedRange = {
    /**
     * The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.
     */
    date_from?: string;
    /**
     * The last moment, and with a date alone the whole day. Default: now.
     */
    date_to?: string;
};

/**
 * The answer for the compared range.
 */
export type ComparedRetention = {
    /**
     * One for each interval of the range.
     */
    cohorts: Array<RetentionCohort>;
    /**
     * For each interval after: all who came back as a part of all people, of the cohorts where it is over.
     */
    average: Array<number | null>;
};

/**
 * The answer for the compared range.
 */
export type ComparedTrend = {
    intervals: Array<string>;
    series: Array<TrendFigures>;
    /**
     * The values that have no series of their own, together.
     */
    others?: Array<TrendFiguresOfOthers>;
};

/**
 * The answer for the compared range.
 */
export type ComparedWeb = {
    intervals: Array<string>;
    totals: WebTotals;
    points: WebPoints;
    lists: WebLists;
    more: WebMore;
    /**
     * The goals, in the order that was sent.
     */
    goals: Array<WebGoal>;
    /**
     * Page views without a session, which are in no other figure.
     */
    outside_visits: number;
};

export type CompleteAuthorizationResult = {
    status: 'success';
    provider: string;
    /**
     * What the sign-in is for. `mailbox` needs `identity_id` and the scope identities:write. `connection` needs the scope settings:write and either `connection_id`, to sign in again, or `connector` with its settings; `source` and `read_since` are as in `POST /v1/connections`.
     */
    purpose: {
        kind: 'mailbox' | 'connection';
        [key: string]: string | 'mailbox' | 'connection';
    };
    /**
     * The path of the dashboard's page about the new connection or mailbox.
     */
    path: string;
    warnings?: Array<string>;
};

export type ComputedPropertiesPage = {
    status: 'success';
    computed_properties: Array<ComputedProperty>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ComputedProperty = {
    computed_property_id: string;
    /**
     * The key in `properties` that has the value.
     */
    name: string;
    /**
     * What has the property.
     */
    entity: 'contacts' | 'companies';
    /**
     * null for a score.
     */
    function: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'distinct' | 'first' | 'last' | 'most_frequent' | null;
    /**
     * The name of the events; null for a score.
     */
    event: string | null;
    /**
     * Conditions on each event; all must be true.
     */
    where: Array<PropertyCondition | NestedFilter>;
    /**
     * The property of the events that is computed.
     */
    property: string | null;
    /**
     * Only events of so many days count; null: all do.
     */
    within_days: number | null;
    /**
     * The rules of a score; null for a function.
     */
    score: Array<ComputedPropertyScoreRule> | null;
    /**
     * Whether records still get their first value, because the property is new or was changed.
     */
    filling: boolean;
    created_at: string;
    updated_at: string;
};

export type ComputedPropertyResult = {
    status: 'success';
    computed_property: ComputedProperty;
    warnings?: Array<string>;
};

export type ComputedPropertyScoreRule = {
    filter: SegmentFilter;
    points: number;
};

export type ConnectedApp = {
    grant_id: string;
    /**
     * The name that the application gave itself. Nothing proves it.
     */
    name: string;
    /**
     * Where the person was sent back to: a host or a URL scheme.
     */
    redirect_host: string;
    user: {
        user_id: string;
        name: string;
    };
    /**
     * What it may do at most. A call may never do more than the person's role.
     */
    scopes: Array<string>;
    /**
     * Whether it sees pseudonyms in place of personal data.
     */
    redact_personal_data: boolean;
    /**
     * The tools that it may use over MCP: their names, `all` for every tool that the scopes allow, or an empty list for none.
     */
    tools: Array<string>;
    created_at: string;
    last_used_at: string | null;
};

export type ConnectedAppResult = {
    status: 'success';
    connected_app: ConnectedApp;
    warnings?: Array<string>;
};

export type ConnectedAppsPage = {
    status: 'success';
    connected_apps: Array<ConnectedApp>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Connection = {
    connection_id: string;
    connector: string;
    /**
     * The name of the source that writes the data.
     */
    source: string;
    /**
     * The account, as the connected system names it.
     */
    account: string;
    settings: {
        [key: string]: unknown;
    };
    /**
     * `waiting`: the next pull is scheduled. `pulling`: a pull is running. `failed`: `error` gives the reason. If the pull failed, it is retried. If the system refused some objects, the next pull requests them again. `signed_out`: sign in again. `paused`: nothing is pulled until you resume it.
     */
    state: 'waiting' | 'pulling' | 'failed' | 'signed_out' | 'paused';
    error: string | null;
    objects: Array<{
        name: string;
        /**
         * All changes up to this time have been read; null: none.
         */
        read_until: string | null;
        is_reading: boolean;
        /**
         * Why these records were not read: the system refused them, or records that they refer to. The next pull requests them again. null: they were read.
         */
        error: string | null;
    }>;
    last_run: ConnectionRun | null;
    next_pull_at: string | null;
    /**
     * null: nothing is written back.
     */
    write_back: WriteBack | null;
    /**
     * null: notes and mails of agents are not stored in the system.
     */
    activities: StoredActivities | null;
    created_at: string;
    updated_at: string;
};

/**
 * A problem with one record; the other records were written. The record itself was not written, unless the code is `ignored_id`: then it was written without an id that names nobody, such as `undefined`. Each such id is listed once per page of records.
 */
export type ConnectionError = {
    error_id: string;
    /**
     * null: the record could not be written to the connected system.
     */
    run_id: string | null;
    /**
     * `write_back`: a contact that could not be written to the connected system. `activities`: a note or a mail of an agent that could not be stored there.
     */
    object: string;
    /**
     * The record's id in the connected system; for `write_back` and `activities`, our contact_id.
     */
    external_id: string;
    code: string;
    message: string;
    at: string;
};

export type ConnectionErrorsPage = {
    status: 'success';
    errors: Array<ConnectionError>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ConnectionResult = {
    status: 'success';
    connection: Connection;
    warnings?: Array<string>;
};

/**
 * One read of everything that changed since the previous run.
 */
export type ConnectionRun = {
    run_id: string;
    /**
     * For each object, the number of records that were created, updated, unchanged, deleted, merged, accepted (events), recorded (messages) or failed.
     */
    counts: {
        [key: string]: {
            [key: string]: number;
        };
    };
    started_at: string;
    /**
     * null while the run is not complete.
     */
    finished_at: string | null;
};

export type ConnectionRunsPage = {
    status: 'success';
    runs: Array<ConnectionRun>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ConnectionsPage = {
    status: 'success';
    connections: Array<Connection>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Connector = {
    name: string;
    /**
     * The name to display.
     */
    label: string;
    kind: string;
    /**
     * The secret fields to sign in with. Empty: sign in only at `oauth_provider`.
     */
    credentials: Array<{
        name: string;
        description: string;
    }>;
    /**
     * The provider where people can sign in with POST /v1/authorizations instead; null: none.
     */
    oauth_provider: string | null;
    /**
     * The other fields of a connection, each with its JSON Schema.
     */
    settings: {
        [key: string]: unknown;
    };
    /**
     * The settings that are required.
     */
    required_settings: Array<string>;
    /**
     * The objects that are read, in order.
     */
    objects: Array<string>;
    /**
     * Whether changed contacts can be written back to the system.
     */
    can_write_back: boolean;
    /**
     * Whether notes and mails of agents can be stored in the system as activities.
     */
    can_store_activities: boolean;
};

export type ConnectorResult = {
    status: 'success';
    connector: Connector;
    warnings?: Array<string>;
};

/**
 * The property that decides that the contact is not written to; null if none does. Suppressed addresses are listed separately.
 */
export type Consent = {
    property: string;
    value: string | number | boolean | Array<unknown>;
    /**
     * The guardrail that outreach to the contact breaks; `bounced` concerns only mail.
     */
    rule: 'do_not_contact' | 'unsubscribed' | 'bounced';
};

export type Contact = {
    contact_id: string;
    /**
     * Transitional alias of contact_id; will be removed.
     */
    _id: string;
    properties: {
        [key: string]: string | number | boolean | Array<string | number | boolean>;
    };
    consent: Consent | null;
    associations: {
        companies: Array<string>;
    };
    company_id: string | null;
    first_seen_at: string;
    segment_ids: Array<string>;
    creation_source: string;
    created_at: string;
    updated_at: string;
    notes: Array<Note>;
    /**
     * Older notes did not fit into the response; read them with GET /v1/contacts/:contact_id/notes.
     */
    notes_truncated?: true;
    properties_provenance?: {
        [key: string]: Provenance;
    };
    scores?: {
        [key: string]: ContactScore;
    };
};

export type ContactEnrichment = {
    contact_id: string;
    /**
     * When a source last enriched the contact; null if none did.
     */
    enriched_at: string | null;
    /**
     * One for each built-in enricher.
     */
    results: Array<EnricherFindings>;
    /**
     * One for each provider, in the order in which they are asked.
     */
    providers: Array<ProviderFindings>;
    /**
     * Whether providers are still to be asked.
     */
    waiting: boolean;
};

export type ContactEnrichmentResult = {
    status: 'success';
    enrichment: ContactEnrichment;
    warnings?: Array<string>;
};

export type ContactEvent = {
    event_id: string;
    _id: string;
    event: string;
    timestamp: string;
    url: string | null;
    contact_id: string | null;
};

export type ContactResult = {
    status: 'success';
    contact: Contact;
    warnings?: Array<string>;
};

export type ContactScore = {
    /**
     * The sum of the points of `reasons`, as of now; the property follows within 10 seconds.
     */
    value: number;
    /**
     * The rules that match, in their order.
     */
    reasons: Array<ScoreReason>;
};

export type ContactVisitor = {
    visitor_id: string;
    /**
     * The time of its first event before it was identified; null without one.
     */
    first_seen_at: string | null;
    first_url: string | null;
    first_referrer: string | null;
};

export type ContactVisitorsPage = {
    status: 'success';
    visitors: Array<ContactVisitor>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ContactsPage = {
    status: 'success';
    /**
     * Absent with `count_only`.
     */
    contacts?: Array<ListedContact>;
    pagination?: Pagination;
    /**
     * The only field with `count_only`; absent otherwise.
     */
    count?: number;
    warnings?: Array<string>;
};

export type Conversation = {
    thread_id: string;
    channel: 'email' | 'chat';
    /**
     * `email`, or the messaging tool.
     */
    source: string;
    subject: string | null;
    participants: Array<Participant>;
    message_count: number;
    last_message_at: string;
    /**
     * Newest first. A list has them only with include_messages.
     */
    messages?: Array<Message>;
};

export type ConversationsPage = {
    status: 'success';
    conversations: Array<Conversation>;
    total_items: number;
    returned: number;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type CreateApiKeyResult = {
    status: 'success';
    key_id: string;
    /**
     * Returned only once.
     */
    api_key: string;
    warnings?: Array<string>;
};

export type CreateExportResult = {
    status: 'success';
    export_id: string;
    warnings?: Array<string>;
};

export type CreateHookResult = {
    status: 'success';
    hook: Hook;
    /**
     * The last part of the URL. Whoever has it can send bodies.
     */
    token: string;
    /**
     * The URL to enter in the sending system. It contains the token.
     */
    url: string;
    warnings?: Array<string>;
};

export type CreateInvitationResult = {
    status: 'success';
    invitation: Invitation;
    link: string | null;
    /**
     * Whether the link was sent.
     */
    mailed: boolean;
    warnings?: Array<string>;
};

export type CreateSourceResult = {
    status: 'success';
    source: Source;
    /**
     * Returned only once.
     */
    write_key: string;
    warnings?: Array<string>;
};

export type CreateWebhookResult = {
    status: 'success';
    subscription_id: string;
    webhook: Webhook;
    /**
     * Returned this once.
     */
    signing_secret: string;
    warnings?: Array<string>;
};

export type Dashboard = {
    dashboard_id: string;
    name: string;
    tiles: Array<Tile>;
    /**
     * In place of the ranges of its reports.
     */
    range: DashboardRange | null;
    /**
     * Conditions on every event, besides those of its reports.
     */
    where: Array<unknown>;
    /**
     * When a link that anybody can read was created; null without one.
     */
    shared_at: string | null;
    created_at: string;
    updated_at: string;
};

/**
 * In place of the ranges of its reports.
 */
export type DashboardRange = {
    /**
     * The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.
     */
    date_from?: string;
    /**
     * The last moment, and with a date alone the whole day. Default: now.
     */
    date_to?: string;
    last?: LastUnits;
};

export type DashboardResult = {
    status: 'success';
    dashboard: Dashboard;
    warnings?: Array<string>;
};

export type DashboardSubscription = {
    next_mail_at: string;
    last_mailed_at: string | null;
    /**
     * Why the last mail could not be sent.
     */
    last_error: SubscriptionError | null;
    created_at: string;
};

export type DashboardSubscriptionResult = {
    status: 'success';
    subscription: DashboardSubscription;
    warnings?: Array<string>;
};

export type DashboardsPage = {
    status: 'success';
    dashboards: Array<Dashboard>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Decision = {
    run_id: string;
    contact_id: string;
    action_index: number;
    /**
     * The action after the decision; null if it could not be decided.
     */
    action: Action | null;
    error: RecordError | null;
};

export type DeleteAgentResult = {
    status: 'success';
    deleted: true;
    agent_id: string;
    warnings?: Array<string>;
};

export type DeleteAlertResult = {
    status: 'success';
    deleted: true;
    alert_id: string;
    warnings?: Array<string>;
};

export type DeleteCompanyResult = {
    status: 'success';
    deleted: true;
    company_id: string;
    warnings?: Array<string>;
};

export type DeleteComputedPropertyResult = {
    status: 'success';
    deleted: true;
    computed_property_id: string;
    warnings?: Array<string>;
};

export type DeleteConnectionResult = {
    status: 'success';
    deleted: true;
    connection_id: string;
    connector: string;
    source: string;
    warnings?: Array<string>;
};

export type DeleteContactResult = {
    status: 'success';
    deleted: true;
    contact_id: string;
    warnings?: Array<string>;
};

export type DeleteDashboardResult = {
    status: 'success';
    deleted: true;
    dashboard_id: string;
    warnings?: Array<string>;
};

export type DeleteEnrichmentProviderResult = {
    status: 'success';
    deleted: true;
    provider_id: string;
    name: string;
    warnings?: Array<string>;
};

export type DeleteHookResult = {
    status: 'success';
    deleted: true;
    hook_id: string;
    name: string;
    warnings?: Array<string>;
};

export type DeleteIdentityResult = {
    status: 'success';
    deleted: true;
    identity_id: string;
    warnings?: Array<string>;
};

export type DeleteInvitationResult = {
    status: 'success';
    deleted: true;
    invitation_id: string;
    email: string;
    role: 'owner' | 'admin' | 'member' | 'viewer';
    warnings?: Array<string>;
};

export type DeleteNoteResult = {
    status: 'success';
    deleted: true;
    note_id: string;
    warnings?: Array<string>;
};

export type DeleteOAuthClientResult = {
    status: 'success';
    deleted: true;
    provider: string;
    client_id: string;
    warnings?: Array<string>;
};

export type DeleteReportResult = {
    status: 'success';
    deleted: true;
    report_id: string;
    warnings?: Array<string>;
};

export type DeleteSegmentResult = {
    status: 'success';
    deleted: true;
    segment_id: string;
    warnings?: Array<string>;
};

export type DeleteSourceResult = {
    status: 'success';
    deleted: true;
    source_id: string;
    name: string;
    warnings?: Array<string>;
};

export type DeleteViewResult = {
    status: 'success';
    deleted: true;
    view_id: string;
    view: SavedView;
    warnings?: Array<string>;
};

export type DeleteWarehouseDestinationResult = {
    status: 'success';
    deleted: true;
    destination_id: string;
    name: string;
    warnings?: Array<string>;
};

export type DeleteWebhookResult = {
    status: 'success';
    deleted: true;
    subscription_id: string;
    warnings?: Array<string>;
};

export type DeletionReceipt = {
    tenant_id: string;
    /**
     * `verified`: a second run, after everything in flight had arrived, has deleted what was left.
     */
    status: 'running' | 'deleted' | 'verified';
    /**
     * Who closed the workspace.
     */
    requested_by: {
        kind: string;
        /**
         * null if the operator closed it on the command line.
         */
        id: string | null;
    };
    requested_at: string;
    started_at: string;
    deleted_at: string | null;
    verified_at: string | null;
    /**
     * How many rows and files were deleted, by table or kind.
     */
    removed: {
        [key: string]: number;
    };
    /**
     * What the service cannot delete.
     */
    remains: Array<string>;
};

export type DismissDuplicateResult = {
    status: 'success';
    dismissed: true;
    duplicate_id: string;
    warnings?: Array<string>;
};

export type Domain = {
    domain_id: string;
    domain: string;
    /**
     * The name of the TXT record that verifies the domain.
     */
    txt_name: string;
    /**
     * The value of that record.
     */
    txt_value: string;
    /**
     * Or: the URL of a text file that verifies the domain.
     */
    file_url: string;
    /**
     * The content of that file.
     */
    file_content: string;
    /**
     * Or: a tag in the head of the home page that verifies the domain.
     */
    meta_tag: string;
    verified_at: string | null;
    /**
     * How it was verified; `local`: it means the machine that the service runs on; `operator`: on the command line.
     */
    verified_by: 'dns' | 'file' | 'meta' | 'local' | 'operator';
    created_at: string;
};

export type DomainResult = {
    status: 'success';
    domain: Domain;
    warnings?: Array<string>;
};

export type DomainsPage = {
    status: 'success';
    domains: Array<Domain>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type DryRun = {
    /**
     * The model provider, or `template`.
     */
    provider: string;
    model: string | null;
    notices: Array<string>;
    contacts: Array<{
        contact_id: string;
        contact: EvaluatedContact | null;
        status: 'evaluated' | 'failed' | 'skipped';
        reasoning: string | null;
        error: string | null;
        /**
         * What the model looked up about the contact, in order.
         */
        tool_calls: Array<RunToolCall>;
        proposed_actions: Array<TriedAction>;
    }>;
    usage: TokenUsage;
};

export type DryRunResult = {
    status: 'success';
    dry_run: DryRun;
    warnings?: Array<string>;
};

export type Duplicate = {
    duplicate_id: string;
    /**
     * From 0 to 1.
     */
    confidence: number;
    reasons: Array<DuplicateReason>;
    /**
     * The two, the older one first.
     */
    contacts: Array<DuplicateContact>;
    found_at: string;
};

/**
 * With the properties that tell whether it is the other person. Those of more than 500 bytes are left out.
 */
export type DuplicateContact = {
    contact_id: string;
    properties: {
        [key: string]: string | number | boolean | Array<string | number | boolean>;
    };
    company_id: string | null;
    creation_source: string;
    created_at: string;
    updated_at: string;
};

export type DuplicateReason = {
    code: 'same_address' | 'same_profile' | 'same_phone' | 'shared_phone' | 'same_name_at_company' | 'similar_name_at_company';
    text: string;
};

export type DuplicatesPage = {
    status: 'success';
    duplicates: Array<Duplicate>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type EmailAccount = {
    identity_id: string;
    address: string;
    smtp: MailServer;
    imap: MailServer | null;
    /**
     * The endpoint and the client that renew access tokens; null if they are not renewed.
     */
    renewal: {
        client_id: string;
        token_url: string;
        /**
         * The provider where a person signed in, such as google; null if the refresh token was entered.
         */
        provider: string | null;
    } | null;
    /**
     * Maximum mails in any 24 hours.
     */
    daily_limit: number;
    /**
     * Minimum time between two mails.
     */
    spacing_seconds: number;
    /**
     * Whether the mail servers accepted the latest login.
     */
    connected: boolean;
    verified_at: string | null;
    /**
     * The replies of the servers, if the latest login failed.
     */
    error: string | null;
    /**
     * Whether the access was revoked or has expired. If true, only another sign-in helps.
     */
    needs_sign_in: boolean;
    created_at: string;
    updated_at: string;
};

export type EmailAccountResult = {
    status: 'success';
    email_account: EmailAccount;
    warnings?: Array<string>;
};

export type EmailThread = {
    thread_id: string;
    last_message_id: string;
    subject: string | null;
};

export type EmailThreadsPage = {
    status: 'success';
    email_threads: Array<EmailThread>;
    total_items: number;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Engagement = {
    /**
     * When the contact last did something; null if never.
     */
    last_seen_at: string | null;
    /**
     * The number of different sessions.
     */
    visits: number;
    page_views: number;
    /**
     * All events but those that the service records itself.
     */
    events: number;
};

/**
 * Which contacts, as the request named them. Empty: all.
 */
export type EnrichedContacts = {
    filter?: SegmentFilter;
    contact_ids?: Array<string>;
    segment_id?: string;
    import_id?: string;
};

export type EnricherFindings = {
    /**
     * `company`, `place`, `phone` or `name`.
     */
    enricher: string;
    /**
     * Whether it is switched on.
     */
    enabled: boolean;
    /**
     * What it filled and the contact still has: names of properties, or `company_id`.
     */
    filled: Array<string>;
    /**
     * When it last found something new; null if it never did.
     */
    found_at: string | null;
    /**
     * What it found last and in what, such as the domain of the address.
     */
    found: {
        [key: string]: unknown;
    } | null;
};

export type Enrichment = {
    /**
     * Links a contact with a work address to the company with the domain of the address, and creates the company if there is none.
     */
    company: boolean;
    /**
     * Fills `country`, `region` and `city` with the place of the last visit.
     */
    place: boolean;
    /**
     * Fills `phone_e164` and `phone_country` from a phone number.
     */
    phone: boolean;
    /**
     * Fills `firstname` and `lastname` with the name beside the address in mails.
     */
    name: boolean;
    /**
     * The country of phone numbers without a country code, if the contact has no country: ISO 3166-1 alpha-2.
     */
    country: string | null;
};

export type EnrichmentHeader = {
    name: string;
    value: string;
};

export type EnrichmentHeaderInput = {
    name: string;
    value: string;
};

export type EnrichmentProvider = {
    provider_id: string;
    name: string;
    kind: 'http' | 'hunter' | 'people_data_labs';
    /**
     * The source that it fills contacts as. It stays when the name changes.
     */
    source: string;
    /**
     * Providers are asked in this order, from 1.
     */
    position: number;
    enabled: boolean;
    /**
     * The template of the URL.
     */
    url: string;
    headers: Array<EnrichmentHeader>;
    mapping: AnswerMapping;
    /**
     * What it may fill: properties of the contact, `company_id`, and `company.name` or `company.<property>`.
     */
    fills: Array<string>;
    /**
     * The names of its secrets. Their values are never shown.
     */
    secret_names: Array<string>;
    /**
     * The most requests in a calendar month; null for no limit.
     */
    monthly_budget: number | null;
    requests_per_minute: number;
    /**
     * How long an answer serves the same question again.
     */
    cache_days: number;
    usage: EnrichmentProviderUsage;
    /**
     * It is not asked before, because it failed repeatedly or asked for a pause.
     */
    paused_until: string | null;
    /**
     * Why a request failed last.
     */
    last_error: RecordError | null;
    last_error_at: string | null;
    created_at: string;
    updated_at: string;
};

export type EnrichmentProviderResult = {
    status: 'success';
    provider: EnrichmentProvider;
    warnings?: Array<string>;
};

export type EnrichmentProviderTest = {
    /**
     * `nothing`: the provider knows nobody like that. `not_asked`: the contact has no value for a variable of the request.
     */
    outcome: 'found' | 'nothing' | 'not_asked' | 'failed';
    error: RecordError | null;
    /**
     * What would be filled in the contact.
     */
    properties: {
        [key: string]: string | number | boolean | Array<string | number | boolean>;
    };
    /**
     * What would be filled in its company.
     */
    company: {
        /**
         * The company that the contact would be linked to; null if it has one.
         */
        domain: string | null;
        name: string | null;
        properties: {
            [key: string]: string | number | boolean | Array<string | number | boolean>;
        };
    } | null;
    /**
     * Values of the wrong kind, which are left out.
     */
    problems: Array<ErrorDetail>;
    /**
     * The provider's response as JSON.
     */
    response: unknown;
};

export type EnrichmentProviderUsage = {
    /**
     * The calendar month, by the clock of the workspace.
     */
    month: string;
    /**
     * The requests that were sent. Cached answers need none.
     */
    requests: number;
    /**
     * The requests whose answers filled something.
     */
    filled: number;
    /**
     * The requests that brought nothing, or nothing new.
     */
    found_nothing: number;
    /**
     * The requests that failed.
     */
    failed: number;
};

export type EnrichmentProvidersPage = {
    status: 'success';
    providers: Array<EnrichmentProvider>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type EnrichmentResult = {
    status: 'success';
    enrichment: Enrichment;
    warnings?: Array<string>;
};

export type EnrichmentRun = {
    run_id: string;
    state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'undoing' | 'undone';
    matching: EnrichedContacts;
    /**
     * How many contacts matched when the run was requested.
     */
    total: number;
    /**
     * How many contacts the run has looked at.
     */
    looked_at: number;
    /**
     * Of these, those in which it filled or updated something.
     */
    enriched: number;
    /**
     * Those for which there was nothing new, or that are gone.
     */
    unchanged: number;
    /**
     * Those that could not be changed, such as contacts that are full.
     */
    failed: number;
    /**
     * The progress of the enrichment or of the undo, from 0 to 1.
     */
    progress: number;
    /**
     * The first contacts that failed.
     */
    errors: Array<FailedEnrichment>;
    /**
     * What the undo did so far; null unless one was requested.
     */
    undo: EnrichmentUndo | null;
    /**
     * Whether it can be undone: for 7 days after it was requested.
     */
    can_undo: boolean;
    /**
     * Why the run failed.
     */
    error: RecordError | null;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
};

export type EnrichmentRunResult = {
    status: 'success';
    run: EnrichmentRun;
    warnings?: Array<string>;
};

export type EnrichmentRunsPage = {
    status: 'success';
    runs: Array<ListedEnrichmentRun>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type EnrichmentUndo = {
    /**
     * Contacts in which everything is as it was before.
     */
    restored: number;
    /**
     * Contacts in which something had been changed since, and stayed.
     */
    kept: number;
    /**
     * Companies that the run created and nothing uses.
     */
    companies_deleted: number;
    /**
     * The first contacts in which something stayed.
     */
    kept_contacts: Array<KeptEnrichment>;
};

export type ErasureReceipt = {
    erasure_id: string;
    contact_id: string;
    status: 'running' | 'erased' | 'verified';
    at: string;
    erased_at: string | null;
    verified_at: string | null;
    requested_by: NamedActor | null;
    email_hash: {
        salt: string;
        sha256: string;
    } | null;
    removed: {
        [key: string]: number;
    };
};

export type ErasureReceiptResult = {
    status: 'success';
    receipt: ErasureReceipt;
    warnings?: Array<string>;
};

export type ErasuresPage = {
    status: 'success';
    erasures: Array<ErasureReceipt>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type ErrorDetail = {
    path: string;
    message: string;
};

/**
 * null once the contact has been deleted.
 */
export type EvaluatedContact = {
    contact_id: string;
    _id: string;
    email: string | null;
    firstname: string | null;
    lastname: string | null;
    company: string | null;
};

export type Event = {
    event_id: string;
    _id: string;
    event: string;
    timestamp: string;
    /**
     * When the service received the event.
     */
    createdAt: string;
    data: {
        [key: string]: unknown;
    };
    internal_contact_id: string | null;
    url: string | null;
    /**
     * Host of url.
     */
    domain: string | null;
    visitor_id: string | null;
    session_id: string | null;
    referrer: string | null;
    referring_domain: string | null;
    /**
     * From the query of url, like the other four.
     */
    utm_source: string | null;
    utm_medium: string | null;
    utm_campaign: string | null;
    utm_term: string | null;
    utm_content: string | null;
    /**
     * Where the sender's network is: ISO 3166-1 alpha-2. The address itself is not stored.
     */
    country: string | null;
    /**
     * null unless the table of addresses has regions.
     */
    region: string | null;
    /**
     * null unless the table of addresses has cities.
     */
    city: string | null;
    browser: string | null;
    os: string | null;
    device_type: string | null;
    screen: string | null;
    user_agent: string | null;
    /**
     * The visitor's id in another analytics tool, if the page sends it.
     */
    analytics_user_id: string | null;
    /**
     * Whether the sender identifies itself as a bot.
     */
    is_bot: boolean;
    /**
     * Whether the host of url differs from the host of the page that sent the event.
     */
    origin_mismatch: boolean;
    contact: JoinedContact | null;
    company: JoinedCompany | null;
};

/**
 * How many events match, in place of min_count; 0 too.
 */
export type EventCount = {
    operator: 'equals' | 'not_equals' | 'gt' | 'gte' | 'lt' | 'lte';
    value: number;
};

export type EventMatch = {
    type?: string;
    /**
     * One of these event names.
     */
    types?: Array<string>;
    text?: string;
    text_contains?: string;
    url_contains?: string;
    class_contains?: string;
    element_id?: string;
    /**
     * Conditions on the event; all must be true.
     */
    where?: Array<PropertyCondition | NestedFilter>;
    within_days?: number;
    /**
     * A timestamp, or a date: its start in the time zone of the tenant.
     */
    after?: string;
    /**
     * A timestamp, or a date: its end in the time zone of the tenant.
     */
    before?: string;
    /**
     * Set in filters of AI agents from whom personal data is hidden: texts are compared without addresses, phone numbers and names, and those of events by whole words.
     */
    visible_only?: true;
    min_count?: number;
    count?: EventCount;
    measure?: EventMeasure;
};

export type EventMeant = {
    /**
     * Exact event name.
     */
    event?: string;
    /**
     * One of these event names, in place of `event`.
     */
    types?: Array<string>;
    /**
     * Conditions on the event; all must be true.
     */
    where?: Array<unknown>;
    /**
     * How the answer names it.
     */
    label?: string;
};

/**
 * A figure of a property of the matching events. sum, avg, min and max pass over values that are not numbers; distinct counts the different values; first and last are by time.
 */
export type EventMeasure = {
    function: 'sum' | 'avg' | 'min' | 'max' | 'distinct' | 'first' | 'last';
    property: string;
    operator: 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'starts_with' | 'ends_with' | 'in' | 'not_in' | 'is_set' | 'is_not_set' | 'gt' | 'gte' | 'lt' | 'lte' | 'before' | 'after' | 'within_days';
    value?: string | number | boolean | Array<string | number | boolean>;
};

export type EventResult = {
    status: 'success';
    event: Event;
    warnings?: Array<string>;
};

export type EventSummary = {
    id: string;
    event: string;
    url: string | null;
    timestamp: string;
    contact_id: string | null;
};

export type EventTypesPage = {
    status: 'success';
    types: Array<string>;
    total_items: number;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type EventsPage = {
    status: 'success';
    events?: Array<Event> | Array<EventSummary>;
    pagination?: Pagination;
    /**
     * With `count_only`, instead of the other fields.
     */
    count?: number;
    warnings?: Array<string>;
};

export type Export = {
    export_id: string;
    status: 'queued' | 'running' | 'ready' | 'failed' | 'expired';
    progress: number;
    url: string | null;
    size_bytes: number | null;
    counts: {
        [key: string]: number;
    };
    error: string | null;
    created_at: string;
    finished_at: string | null;
    expires_at: string | null;
};

export type ExportResult = {
    status: 'success';
    export: Export;
    warnings?: Array<string>;
};

export type ExportsPage = {
    status: 'success';
    exports: Array<Export>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type FailedEnrichment = {
    contact_id: string;
    error: RecordError;
};

export type FailedRow = {
    /**
     * 1 is the row below the header.
     */
    row: number;
    code: string;
    message: string;
};

export type FirstVisit = {
    at: string;
    /**
     * null: without a referrer.
     */
    referring_domain: string | null;
    url: string;
};

export type FunnelAnswer = {
    steps: Array<FunnelStep>;
    /**
     * With `breakdown`, the steps of each value.
     */
    groups?: Array<FunnelGroup>;
    /**
     * The properties whose values each `breakdown` has, as the question names them.
     */
    breakdown_by?: Array<string>;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedFunnel;
};

export type FunnelGroup = {
    /**
     * The value of each property; absent for all other values together.
     */
    breakdown?: Array<string | number | boolean | null>;
    steps: Array<FunnelStep>;
};

export type FunnelStep = {
    /**
     * The `label` that was sent, or the names of the events.
     */
    label: string;
    /**
     * How many people, or sessions, reached the step.
     */
    count: number;
    /**
     * The part of those at the first step, from 0 to 1; null of nobody.
     */
    from_first: number | null;
    /**
     * The part of those at the step before, from 0 to 1; null of nobody.
     */
    from_previous: number | null;
    /**
     * The median time from the step before; null at the first step.
     */
    median_seconds: number | null;
};

/**
 * The most time from the first step to the last. A day is 24 hours.
 */
export type FunnelWindow = {
    value: number;
    unit: 'minute' | 'hour' | 'day' | 'week';
};

export type GetAgentOutcomesResult = {
    status: 'success';
    outcomes: Array<AgentOutcomes>;
    goal: AgentGoal | null;
    window_days: number;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type GetAgentSettingsResult = {
    status: 'success';
    settings: AgentSettings;
    /**
     * The cost of models in the current calendar month (UTC).
     */
    cost_this_month_usd: number;
    warnings?: Array<string>;
};

export type GetAskModelResult = {
    status: 'success';
    /**
     * null if none is configured: questions then cannot be asked.
     */
    model: string | null;
    warnings?: Array<string>;
};

export type GetCompanyEngagementResult = {
    status: 'success';
    /**
     * The number of contacts.
     */
    contacts: number;
    engagement: Engagement;
    /**
     * The most viewed first, at most 5.
     */
    top_pages: Array<TopPage>;
    /**
     * The contacts with the most visits, at most 5.
     */
    most_active: Array<ActiveContact>;
    warnings?: Array<string>;
};

export type GetContactEngagementResult = {
    status: 'success';
    engagement: Engagement;
    /**
     * The most viewed first, at most 5.
     */
    top_pages: Array<TopPage>;
    /**
     * The first page view; null if there is none.
     */
    first_visit: FirstVisit | null;
    warnings?: Array<string>;
};

export type GetContactResult = {
    status: 'success';
    contact: Contact & {
        /**
         * One line for people; do not parse it.
         */
        _summary: string;
    };
    unified_profile: UnifiedProfile;
    events?: Array<CompactEvent>;
    total_events?: number;
    timestamp: string;
    warnings?: Array<string>;
};

export type GetConversationResult = {
    status: 'success';
    conversation: Conversation;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type GetDashboardResult = {
    status: 'success';
    dashboard: Dashboard;
    /**
     * The mail that you get on Mondays; null without one, and for an API key.
     */
    subscription: DashboardSubscription | null;
    warnings?: Array<string>;
};

export type GetEventStatsResult = {
    status: 'success';
    stats: {
        total: number;
        /**
         * The 50 most frequent types.
         */
        by_type?: Array<{
            type: string;
            count: number;
        }>;
        /**
         * The 50 most frequent domains.
         */
        by_domain?: Array<{
            domain: string;
            count: number;
        }>;
        /**
         * The 90 most recent days (UTC) that have events, in chronological order.
         */
        by_day?: Array<{
            date: string;
            count: number;
        }>;
    };
    warnings?: Array<string>;
};

export type GetHookBodyResult = {
    status: 'success';
    body: HookBody;
    /**
     * A JSON object or array.
     */
    data: unknown;
    warnings?: Array<string>;
};

export type GetImportPreviewResult = {
    status: 'success';
    counts: ImportCounts;
    consent: ImportConsent;
    rows: Array<PreviewedRow>;
    warnings?: Array<string>;
};

export type GetLimitsResult = {
    status: 'success';
    enabled: boolean;
    limits: Array<{
        name: string;
        label: string;
        per_minute: number;
    }>;
    /**
     * Requests in the last minute, as counted by the process that serves this request; null for what it does not count. A command counts nothing.
     */
    requests: {
        tracking: number | null;
        forms: number | null;
        keys: Array<{
            key_id: string;
            name: string;
            requests: number | null;
        }>;
    };
    warnings?: Array<string>;
};

export type GetOverviewResult = {
    status: 'success';
    from: string;
    to: string;
    visitors: number;
    identified_contacts: number;
    events: number;
    contacts_created: number;
    /**
     * Every day (UTC) of the range, including days without events.
     */
    by_day: Array<OverviewDay>;
    top_pages: Array<{
        url_path: string;
        views: number;
        visitors: number;
    }>;
    /**
     * The hosts that referred visits; null for visits without a referrer.
     */
    sources: Array<{
        source: string | null;
        visitors: number;
    }>;
    /**
     * The figures of the preceding range of the same length: the range, moved back by whole days. One that ends now is compared up to the same time of day.
     */
    previous: {
        visitors: number;
        identified_contacts: number;
        events: number;
        contacts_created: number;
        /**
         * Every day (UTC) of the range, including days without events.
         */
        by_day: Array<OverviewDay>;
    };
    waiting_for_approval: number;
    warnings?: Array<string>;
};

export type GetSegmentGrowthResult = {
    status: 'success';
    /**
     * Whether members are still being counted; `by_day` is empty until then.
     */
    counting: boolean;
    /**
     * When the segment was created: no day is earlier.
     */
    since: string;
    by_day: Array<{
        date: string;
        /**
         * Members at the end of the day (UTC).
         */
        count: number;
        entered: number;
        exited: number;
        /**
         * Members that a new or changed definition added, minus those it removed; they record no event.
         */
        redefined: number;
    }>;
    /**
     * The days before the segment was created, seen from today's members. Empty for a filter on events or on the time, and for more than 100,000 members.
     */
    past: Array<{
        date: string;
        /**
         * Members of today who were contacts by the end of the day (UTC).
         */
        count: number;
    }>;
    warnings?: Array<string>;
};

export type GetTimelineResult = {
    status: 'success';
    items: Array<TimelineVisit | TimelineEvent>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type GetTrackerResult = {
    status: 'success';
    snippet: string;
    script_url: string;
    collect_url: string;
    /**
     * Where pages send the tenant's forms; replace FORM_ID.
     */
    form_url: string;
    /**
     * Of a visitor who is not a bot; null without the scope `events:read`.
     */
    first_event: SeenEvent | null;
    /**
     * null without the scope `events:read`.
     */
    last_event: SeenEvent | null;
    warnings?: Array<string>;
};

export type Guardrail = {
    rule: string;
    passed: boolean;
    message: string;
    /**
     * Until when the rule delays the action.
     */
    waits_until: string | null;
    checked: 'proposal' | 'execution';
    at: string;
};

export type HealthResult = {
    status: 'ok';
    warnings?: Array<string>;
};

export type Hook = {
    hook_id: string;
    name: string;
    kind: 'custom' | 'stripe' | 'calendly' | 'typeform' | 'cal.com';
    /**
     * The name of the source that writes its records.
     */
    source: string;
    /**
     * Whether it accepts bodies.
     */
    enabled: boolean;
    /**
     * The last 4 characters of its token.
     */
    token_hint: string;
    /**
     * When the token before the last rotation stops working; null if it no longer works.
     */
    previous_token_until: string | null;
    has_signing_secret: boolean;
    /**
     * The header that contains the signature of a body; null if bodies are not signed.
     */
    signature_header: string | null;
    mapping: HookMapping;
    /**
     * The number of kept bodies.
     */
    kept_bodies: number;
    /**
     * The number of kept bodies that could not be recorded.
     */
    failed_bodies: number;
    /**
     * When the newest kept body arrived.
     */
    last_body_at: string | null;
    created_at: string;
    updated_at: string;
};

export type HookBodiesPage = {
    status: 'success';
    bodies: Array<HookBody>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type HookBody = {
    body_id: string;
    hook_id: string;
    received_at: string;
    size_bytes: number;
    /**
     * What was left out of the body when it arrived, or kept as text, and the ids that the mapping ignored because they name nobody.
     */
    warnings: Array<string>;
    /**
     * `pending`: the mapping has not run yet. `recorded`: the records were written. `skipped`: the mapping skipped it. `failed`: the mapping could not turn it into records.
     */
    state: 'pending' | 'recorded' | 'skipped' | 'failed';
    /**
     * Why the body was skipped or failed, or why the last attempt did not finish.
     */
    error: RecordError | null;
    /**
     * The name of its event.
     */
    event: string | null;
    event_id: string | null;
    contact_id: string | null;
    /**
     * What happened to the contact.
     */
    contact_status: 'created' | 'updated' | 'unchanged' | null;
    company_id: string | null;
    /**
     * When the mapping last ran.
     */
    processed_at: string | null;
};

export type HookBodyResult = {
    status: 'success';
    body: HookBody;
    warnings?: Array<string>;
};

export type HookField = {
    /**
     * A path, or a list of paths. The first path that has a value is used.
     */
    path?: string | Array<string>;
    /**
     * A fixed value instead of a path.
     */
    value?: string | number | boolean;
    /**
     * A text that does not begin with this counts as missing.
     */
    starts_with?: string;
};

export type HookMapping = {
    /**
     * A body is recorded only if each of these paths has one of the values.
     */
    only_when?: Array<MappingCondition>;
    /**
     * The event to record. `id`: an event with the same name and id is recorded only once. `timestamp`: ISO 8601 with an offset, or seconds or milliseconds since 1970. Default: the time when the body arrived.
     */
    event?: {
        name: HookField;
        timestamp?: HookField;
        id?: HookField;
        url?: HookField;
        data?: {
            [key: string]: HookField;
        };
    };
    /**
     * The contact, found or created by `email` or `user_id` (your own id of the person). `external_id` is the sender's id. Once a body has linked it to a contact, later bodies can identify the contact by it alone. It never creates a contact.
     */
    contact?: {
        email?: HookField;
        user_id?: HookField;
        external_id?: HookField;
        properties?: {
            [key: string]: HookField;
        };
    };
    company?: CompanyMapping;
};

export type HookMappingResult = {
    status: 'success';
    mapping: HookMapping;
    warnings?: Array<string>;
};

export type HookResult = {
    status: 'success';
    hook: Hook;
    warnings?: Array<string>;
};

export type HooksPage = {
    status: 'success';
    hooks: Array<Hook>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type IdentifyResult = {
    status: 'success';
    contact_id: string;
    created: boolean;
    linked_visitors: number;
    warnings?: Array<string>;
};

export type IdentitiesPage = {
    status: 'success';
    identities: Array<Identity>;
    total_items: number;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Identity = {
    identity_id: string;
    _id: string;
    firstName: string;
    lastName: string;
    role: string;
    jobTitle: string | null;
    profile_id: string | null;
    email_account: {
        address: string | null;
        /**
         * Whether the mail servers accepted the latest login.
         */
        connected: boolean;
    };
    social: {
        connected: boolean;
        profile_id: string | null;
        checked_at: string | null;
    };
    created_at: string;
    updated_at: string;
};

export type IdentityConnections = {
    email_account: EmailAccount | null;
    /**
     * The agents that write as the identity. Empty without the scope `agents:read`.
     */
    agents: Array<{
        agent_id: string;
        name: string;
        enabled: boolean;
    }>;
    /**
     * The latest login, whether it has ended or not.
     */
    social_login: {
        session_id: string;
        status: 'queued' | 'running' | 'awaiting_2fa' | 'awaiting_email' | 'completed' | 'failed';
        deadline_at: string;
    } | null;
    /**
     * Whether the social network is simulated, so that nothing leaves the service.
     */
    is_sandbox: boolean;
};

export type IdentityConnectionsResult = {
    status: 'success';
    connections: IdentityConnections;
    warnings?: Array<string>;
};

export type IdentityResult = {
    status: 'success';
    identity: Identity;
    warnings?: Array<string>;
};

export type Import = {
    import_id: string;
    _id: string;
    file_name: string;
    size_bytes: number;
    encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'macintosh' | 'iso-8859-15' | 'ibm850' | 'ibm437' | 'windows-1250' | 'iso-8859-2' | 'ibm852' | 'x-mac-ce' | 'windows-1251' | 'koi8-r' | 'ibm866' | 'x-mac-cyrillic' | 'windows-1253' | 'windows-1254' | 'windows-1255' | 'windows-1256' | 'windows-1257' | 'windows-1258' | 'windows-874' | 'shift_jis' | 'euc-jp' | 'iso-2022-jp' | 'gb18030' | 'big5' | 'euc-kr';
    /**
     * Encodings that the file may have, the likeliest first, and how its first words that are not ASCII read in each. Empty if the encoding is certain, and without the scope `contacts:read`.
     */
    encodings: Array<ImportEncoding>;
    delimiter: string;
    /**
     * The line that names the columns; 1 is the first line of the file, and 0 means that none does.
     */
    header_line: number;
    /**
     * The first lines of the file. Empty once the file is deleted, and without the scope `contacts:read`.
     */
    first_lines: Array<ImportLine>;
    /**
     * The system whose export the file was recognized as.
     */
    recognized_as: 'hubspot' | 'mailchimp' | 'attio' | 'outlook' | 'google' | 'pipedrive' | 'salesforce' | 'klaviyo' | 'shopify' | null;
    state: 'uploaded' | 'mapped' | 'previewing' | 'previewed' | 'running' | 'completed' | 'failed' | 'cancelled' | 'undoing' | 'undone';
    columns: Array<ImportColumn>;
    /**
     * Proposed by the service until you set it.
     */
    mapping: Array<ColumnMapping>;
    /**
     * The last import with the same columns, if the proposed mapping is the one of that import.
     */
    remembered: RememberedMapping | null;
    /**
     * What was left out of rows or kept as text; known once the file has been read. Empty without the scope `contacts:read`.
     */
    warnings: Array<ImportWarning>;
    /**
     * null until the file has been read to its end.
     */
    row_count: number | null;
    /**
     * The progress of the preview, the import or the undo, from 0 to 1.
     */
    progress: number;
    /**
     * What the import would do, as of the latest preview.
     */
    preview: ImportCounts | null;
    /**
     * How many contacts get no more mail: what the rows imported so far did, or, before the start, what the latest preview says.
     */
    consent: ImportConsent | null;
    counts: ImportCounts;
    /**
     * The tag that every contact of the file got in its property `tags`.
     */
    tag: string | null;
    /**
     * The first failed rows. Empty without the scope `contacts:read`.
     */
    errors: Array<FailedRow>;
    /**
     * CSV of all failed rows; null without any, or when the file is deleted.
     */
    failed_rows_url: string | null;
    /**
     * Contacts deleted, restored and kept, and companies deleted; null unless the import was undone.
     */
    undo: ImportUndo | null;
    can_undo: boolean;
    error: RecordError | null;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
    expires_at: string;
    has_file: boolean;
};

export type ImportColumn = {
    header: string;
    /**
     * Empty once the file is deleted, and without the scope `contacts:read`.
     */
    samples: Array<string>;
    /**
     * What may surprise in the proposed mapping.
     */
    note: ImportColumnNote | null;
    /**
     * Whether the values of the column fit several formats, such as `03/04/2026` and `1,250`: the one in the proposed mapping is a guess.
     */
    is_ambiguous: boolean;
    /**
     * What the mapping makes of the first of `samples` that it changes, or that does not fit; null if there is none.
     */
    example: {
        before: string;
        /**
         * The properties that are stored; empty if the value does not fit, so that its row fails.
         */
        after: Array<{
            property: string;
            value: string;
        }>;
    } | null;
};

export type ImportColumnNote = {
    /**
     * `same_target`: another column suits the target better, so this one became a property of its own. `found_by_values`: its values are addresses. `no_name`: it has no name, and is ignored. `consent`: contacts that opt out in it get no mail.
     */
    code: 'same_target' | 'found_by_values' | 'no_name' | 'consent';
    /**
     * With `same_target`: the target, or the property.
     */
    target?: string;
    /**
     * With `same_target`: the index of the column that has it.
     */
    column?: number;
};

export type ImportConsent = {
    /**
     * Contacts that get no mail after the import: they did before it, or are new.
     */
    silenced: number;
    /**
     * Contacts of the file that get no mail before or after the import.
     */
    still_silent: number;
    /**
     * Contacts that get mail again after the import, because the file contradicts an earlier opt-out.
     */
    released: number;
    /**
     * The columns that say so.
     */
    columns: Array<{
        /**
         * Index of the column, from 0.
         */
        column: number;
        property: string;
        /**
         * The contacts that opt out in this column, or whose mail bounces.
         */
        contacts: number;
    }>;
};

export type ImportCounts = {
    created: number;
    updated: number;
    unchanged: number;
    failed: number;
};

export type ImportEncoding = {
    encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'macintosh' | 'iso-8859-15' | 'ibm850' | 'ibm437' | 'windows-1250' | 'iso-8859-2' | 'ibm852' | 'x-mac-ce' | 'windows-1251' | 'koi8-r' | 'ibm866' | 'x-mac-cyrillic' | 'windows-1253' | 'windows-1254' | 'windows-1255' | 'windows-1256' | 'windows-1257' | 'windows-1258' | 'windows-874' | 'shift_jis' | 'euc-jp' | 'iso-2022-jp' | 'gb18030' | 'big5' | 'euc-kr';
    words: string;
};

export type ImportLine = {
    /**
     * 1 is the first line of the file.
     */
    line: number;
    /**
     * The first cells, shortened.
     */
    cells: Array<string>;
};

export type ImportResult = {
    status: 'success';
    import: Import;
    warnings?: Array<string>;
};

export type ImportUndo = {
    deleted: number;
    restored: number;
    kept: number;
    companies_deleted: number;
};

export type ImportWarning = {
    code: 'ignored_id' | 'kept_as_text' | 'consent_ignored' | 'other_address';
    message: string;
    /**
     * How many rows have it.
     */
    rows: number;
    /**
     * 1 is the row below the header.
     */
    first_rows: Array<number>;
};

export type ImportsPage = {
    status: 'success';
    imports: Array<ListedImport>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type InsightFunnelResult = {
    status: 'success';
    steps: Array<FunnelStep>;
    /**
     * With `breakdown`, the steps of each value.
     */
    groups?: Array<FunnelGroup>;
    /**
     * The properties whose values each `breakdown` has, as the question names them.
     */
    breakdown_by?: Array<string>;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedFunnel;
    warnings?: Array<string>;
};

export type InsightPathsResult = {
    status: 'success';
    /**
     * The URL paths or events at each step, largest first: at most the 1,000 largest, and those of the links.
     */
    nodes: Array<PathNode>;
    /**
     * The largest links, in order.
     */
    links: Array<PathLink>;
    /**
     * How often the links that are left out were taken.
     */
    others: number;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedPaths;
    warnings?: Array<string>;
};

export type InsightPeopleResult = {
    status: 'success';
    filter: SegmentFilter;
    /**
     * How many contacts the number counts.
     */
    contacts: number;
    /**
     * How many visitors it counts whom nobody knows.
     */
    anonymous: number;
    warnings?: Array<string>;
};

export type InsightRetentionResult = {
    status: 'success';
    /**
     * One for each interval of the range.
     */
    cohorts: Array<RetentionCohort>;
    /**
     * For each interval after: all who came back as a part of all people, of the cohorts where it is over.
     */
    average: Array<number | null>;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedRetention;
    warnings?: Array<string>;
};

export type InsightTrendResult = {
    status: 'success';
    intervals: Array<string>;
    series: Array<TrendFigures>;
    /**
     * The values that have no series of their own, together.
     */
    others?: Array<TrendFiguresOfOthers>;
    /**
     * The properties whose values each `breakdown` has, as the question names them.
     */
    breakdown_by?: Array<string>;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedTrend;
    warnings?: Array<string>;
};

export type InsightWebResult = {
    status: 'success';
    intervals: Array<string>;
    totals: WebTotals;
    points: WebPoints;
    lists: WebLists;
    more: WebMore;
    /**
     * The goals, in the order that was sent.
     */
    goals: Array<WebGoal>;
    /**
     * Page views without a session, which are in no other figure.
     */
    outside_visits: number;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedWeb;
    warnings?: Array<string>;
};

export type Invitation = {
    invitation_id: string;
    email: string;
    role: 'owner' | 'admin' | 'member' | 'viewer';
    expires_at: string;
};

export type InvitationResult = {
    status: 'success';
    invitation: Invitation;
    warnings?: Array<string>;
};

export type InvitationsPage = {
    status: 'success';
    invitations: Array<Invitation>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type JoinedCompany = {
    _id: string;
    name: string | null;
    domain: string | null;
};

export type JoinedContact = {
    _id: string;
    email: string | null;
    firstname: string | null;
    lastname: string | null;
};

export type KeptContact = {
    contact_id: string;
    /**
     * The properties that were changed since the import. Empty: the whole contact is in use.
     */
    properties: Array<string>;
};

export type KeptContactsPage = {
    status: 'success';
    contacts: Array<KeptContact>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type KeptEnrichment = {
    contact_id: string;
    /**
     * What was changed since the run, and stayed: names of properties, or `company_id`.
     */
    kept: Array<string>;
};

/**
 * In place of dates: so many whole units, the running one included unless `complete` is true. Weeks begin on Monday. Without a range, the last 30 days.
 */
export type LastUnits = {
    value: number;
    unit: 'hour' | 'day' | 'week' | 'month';
    /**
     * Without the running unit: 1 complete day is yesterday.
     */
    complete?: boolean;
};

export type LinkedinCheckResult = {
    status: 'success';
    connected: boolean;
    profile_id: string | null;
    checked_at: string;
    warnings?: Array<string>;
};

export type LinkedinLoginCodeResult = {
    status: 'success';
    session_id: string;
    login_result: LoginResult;
    warnings?: Array<string>;
};

export type LinkedinLoginResult = {
    status: 'success';
    message: string;
    identity_id: string;
    login_result: LoginResult;
    warnings?: Array<string>;
};

export type LinkedinLoginStatusResult = {
    status: 'queued' | 'running' | 'awaiting_2fa' | 'awaiting_email' | 'completed' | 'failed';
    session_id: string;
    identity_id: string;
    profile_id: string | null;
    error?: LoginError;
    login_result: LoginResult;
    warnings?: Array<string>;
};

export type ListAgentRunsResult = {
    status: 'success';
    runs: Array<Run>;
    total: number;
    limit: number;
    offset: number;
    warnings?: Array<string>;
};

export type ListAgentsResult = {
    status: 'success';
    agents: Array<Agent & {
        /**
         * Only with `include=last_run`; null if the agent has never run.
         */
        last_run?: Run | null;
    }>;
    total: number;
    limit: number;
    offset: number;
    warnings?: Array<string>;
};

/**
 * What changed in the list, if the request has one.
 */
export type ListChanges = {
    added: Array<string>;
    removed: Array<string>;
};

export type ListConnectorsResult = {
    status: 'success';
    connectors: Array<Connector>;
    warnings?: Array<string>;
};

export type ListContactEventsResult = {
    status: 'success';
    events: Array<PlainEvent> | Array<ContactEvent>;
    contact_id: string;
    /**
     * The number of matching events.
     */
    total_items: number;
    /**
     * The number of events in this response, at most 1,000.
     */
    returned: number;
    warnings?: Array<string>;
};

export type ListOAuthClientsResult = {
    status: 'success';
    oauth_clients: Array<OAuthClient>;
    warnings?: Array<string>;
};

export type ListPersonalPropertiesResult = {
    status: 'success';
    properties: Array<PersonalProperty>;
    warnings?: Array<string>;
};

export type ListPropertiesResult = {
    status: 'success';
    properties: Array<Property>;
    /**
     * How many properties of the records are not listed, because they have more than 2,000.
     */
    more: number;
    warnings?: Array<string>;
};

export type ListScheduleTimesResult = {
    status: 'success';
    times: Array<string>;
    warnings?: Array<string>;
};

export type ListScopesResult = {
    status: 'success';
    scopes: Array<string>;
    warnings?: Array<string>;
};

export type ListToolsResult = {
    status: 'success';
    tools: Array<OfferedTool>;
    warnings?: Array<string>;
};

export type ListWebhookEventTypesResult = {
    status: 'success';
    event_types: Array<WebhookEventType>;
    warnings?: Array<string>;
};

export type ListedContact = {
    contact_id?: string;
    /**
     * Transitional alias of contact_id; will be removed.
     */
    _id?: string;
    properties?: {
        [key: string]: string | number | boolean | Array<string | number | boolean>;
    };
    consent?: Consent | null;
    associations?: {
        companies: Array<string>;
    };
    company_id?: string | null;
    first_seen_at?: string;
    segment_ids?: Array<string>;
    creation_source?: string;
    created_at?: string;
    updated_at?: string;
    notes?: Array<Note>;
    /**
     * Older notes did not fit into the response; read them with GET /v1/contacts/:contact_id/notes.
     */
    notes_truncated?: true;
    properties_provenance?: {
        [key: string]: Provenance;
    };
    scores?: {
        [key: string]: ContactScore;
    };
};

export type ListedEnrichmentRun = {
    run_id: string;
    state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'undoing' | 'undone';
    matching: EnrichedContacts;
    /**
     * How many contacts matched when the run was requested.
     */
    total: number;
    /**
     * How many contacts the run has looked at.
     */
    looked_at: number;
    /**
     * Of these, those in which it filled or updated something.
     */
    enriched: number;
    /**
     * Those for which there was nothing new, or that are gone.
     */
    unchanged: number;
    /**
     * Those that could not be changed, such as contacts that are full.
     */
    failed: number;
    /**
     * The progress of the enrichment or of the undo, from 0 to 1.
     */
    progress: number;
    /**
     * What the undo did so far; null unless one was requested.
     */
    undo: EnrichmentUndo | null;
    /**
     * Whether it can be undone: for 7 days after it was requested.
     */
    can_undo: boolean;
    /**
     * Why the run failed.
     */
    error: RecordError | null;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
};

export type ListedImport = {
    import_id: string;
    _id: string;
    file_name: string;
    size_bytes: number;
    encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'macintosh' | 'iso-8859-15' | 'ibm850' | 'ibm437' | 'windows-1250' | 'iso-8859-2' | 'ibm852' | 'x-mac-ce' | 'windows-1251' | 'koi8-r' | 'ibm866' | 'x-mac-cyrillic' | 'windows-1253' | 'windows-1254' | 'windows-1255' | 'windows-1256' | 'windows-1257' | 'windows-1258' | 'windows-874' | 'shift_jis' | 'euc-jp' | 'iso-2022-jp' | 'gb18030' | 'big5' | 'euc-kr';
    delimiter: string;
    /**
     * The line that names the columns; 1 is the first line of the file, and 0 means that none does.
     */
    header_line: number;
    /**
     * The system whose export the file was recognized as.
     */
    recognized_as: 'hubspot' | 'mailchimp' | 'attio' | 'outlook' | 'google' | 'pipedrive' | 'salesforce' | 'klaviyo' | 'shopify' | null;
    state: 'uploaded' | 'mapped' | 'previewing' | 'previewed' | 'running' | 'completed' | 'failed' | 'cancelled' | 'undoing' | 'undone';
    /**
     * null until the file has been read to its end.
     */
    row_count: number | null;
    /**
     * The progress of the preview, the import or the undo, from 0 to 1.
     */
    progress: number;
    /**
     * What the import would do, as of the latest preview.
     */
    preview: ImportCounts | null;
    counts: ImportCounts;
    /**
     * The tag that every contact of the file got in its property `tags`.
     */
    tag: string | null;
    /**
     * CSV of all failed rows; null without any, or when the file is deleted.
     */
    failed_rows_url: string | null;
    /**
     * Contacts deleted, restored and kept, and companies deleted; null unless the import was undone.
     */
    undo: ImportUndo | null;
    can_undo: boolean;
    error: RecordError | null;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
    expires_at: string;
    has_file: boolean;
};

export type ListedPlaybookVersion = {
    playbook_version: number;
    since: string;
    /**
     * When the next version replaced it; null for the current one.
     */
    until: string | null;
    playbook_template: string | null;
};

/**
 * Why the login failed. With `awaiting_2fa`: the latest code was rejected.
 */
export type LoginError = {
    code: string;
    message: string;
    /**
     * The HTTP status with which other calls of this flow return this error.
     */
    http_status: number;
};

export type LoginResult = {
    profile_id: string | null;
    session_id: string;
    status: 'queued' | 'running' | 'awaiting_2fa' | 'awaiting_email' | 'completed' | 'failed';
};

export type MailPreview = {
    subject: string;
    /**
     * The plain-text part.
     */
    text: string;
    /**
     * The HTML part: a complete document.
     */
    html: string;
};

export type MailPreviewResult = {
    status: 'success';
    preview: MailPreview;
    warnings?: Array<string>;
};

export type MailServer = {
    host: string;
    port: number;
    security: 'tls' | 'starttls' | 'none';
    user: string;
    login: 'password' | 'access_token';
};

export type Mailbox = {
    identity_id: string;
    /**
     * waiting, connecting, reading, watching or failed.
     */
    state: string;
    /**
     * The last error; null once the mailbox is read again.
     */
    error: string | null;
    /**
     * The earliest time of the next attempt after a failure.
     */
    next_attempt_at: string | null;
    connected_at: string | null;
    synced_at: string | null;
    folders: Array<{
        role: string;
        path: string;
        synced_at: string;
    }>;
    /**
     * Number of mails that could not be read.
     */
    skipped: number;
};

export type MailboxResult = {
    status: 'success';
    mailbox: Mailbox;
    warnings?: Array<string>;
};

export type MailboxesPage = {
    status: 'success';
    mailboxes: Array<Mailbox>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type MappingCondition = {
    /**
     * The path of the value in the body: `data.object.email`, `answers[0].text`, `answers[*].email` for the first item that has an `email`, `["first name"]` for a name with a dot, a space or a bracket, `$` for the whole body.
     */
    path: string;
    equals: Array<string | number | boolean>;
};

export type Member = {
    user_id: string;
    email: string;
    name: string;
    role: 'owner' | 'admin' | 'member' | 'viewer';
    joined_at: string;
};

export type MemberResult = {
    status: 'success';
    member: Member;
    warnings?: Array<string>;
};

export type MembersPage = {
    status: 'success';
    members: Array<Member>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Merge = {
    contact_id: string;
    email: string | null;
    firstname: string | null;
    lastname: string | null;
    merged_at: string;
    /**
     * null for the command line and the service itself.
     */
    merged_by: NamedActor | null;
    /**
     * Whether it is the latest merge: merges into one contact are undone in reverse order.
     */
    can_unmerge: boolean;
};

export type MergeContactResult = {
    status: 'success';
    contact: Contact;
    merged_contact_id: string;
    warnings?: Array<string>;
};

export type MergesPage = {
    status: 'success';
    merges: Array<Merge>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Message = {
    /**
     * The Message-ID of a mail without its angle brackets, or the id in the messaging tool.
     */
    message_id: string;
    direction: 'inbound' | 'outbound';
    from: Participant;
    to: Array<Participant>;
    cc: Array<Participant>;
    sent_at: string;
    text: string;
    /**
     * Sanitized: without anything that runs or loads. The URL of a remote image is in data-src.
     */
    html?: string;
    /**
     * Metadata only; the contents are not stored.
     */
    attachments: Array<Attachment>;
    /**
     * Set if the response would be too large: the text is shortened and the HTML is omitted. Request fewer messages.
     */
    truncated?: true;
};

export type NamedActor = {
    id: string;
    name: string;
};

/**
 * A nested filter of the same shape; at most 5 levels.
 */
export type NestedFilter = {
    match: 'all' | 'any';
    conditions: Array<unknown>;
};

export type Note = {
    note_id: string;
    _id: string;
    contact_id: string;
    /**
     * Markdown, stored as sent.
     */
    content: string;
    created_at: string;
    updated_at: string;
};

export type NoteResult = {
    status: 'success';
    note: Note;
    warnings?: Array<string>;
};

export type NotesPage = {
    status: 'success';
    notes: Array<Note>;
    /**
     * The number of notes in this response.
     */
    returned: number;
    /**
     * true if some notes of the page did not fit.
     */
    truncated?: true;
    /**
     * The number of notes of the contact.
     */
    total_items: number;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type OAuthClient = {
    provider: 'google' | 'microsoft' | 'hubspot' | 'salesforce' | 'pipedrive';
    /**
     * The provider's name for people.
     */
    label: string;
    /**
     * null: no client is stored, so nobody can sign in at the provider.
     */
    client_id: string | null;
    /**
     * `workspace`: stored in this workspace. `operator`: set for the whole installation by its operator.
     */
    origin: 'workspace' | 'operator' | null;
    /**
     * The redirect URL to register at the provider.
     */
    redirect_url: string;
    updated_at: string | null;
};

export type OAuthClientResult = {
    status: 'success';
    oauth_client: OAuthClient;
    warnings?: Array<string>;
};

export type OfferedTool = {
    name: string;
    description: string;
    /**
     * The scopes that it needs.
     */
    scopes: Array<string>;
    /**
     * Whether it only reads.
     */
    reads: boolean;
    title: string;
};

export type OrderEnrichmentProvidersResult = {
    status: 'success';
    providers: Array<EnrichmentProvider>;
    warnings?: Array<string>;
};

export type OverviewDay = {
    date: string;
    events: number;
    visitors: number;
};

export type Pagination = {
    page: number;
    limit: number;
    total_pages: number;
    total_items: number;
};

export type Participant = {
    address: string | null;
    name: string | null;
};

/**
 * From a node to the one after it. `step` is that of `from`.
 */
export type PathLink = {
    from: string;
    to: string;
    /**
     * Counted from 1 at the beginning of a path or, with `to`, back from 0 at its end.
     */
    step: number;
    /**
     * How many sessions have it in their path.
     */
    count: number;
};

export type PathNode = {
    /**
     * Counted from 1 at the beginning of a path or, with `to`, back from 0 at its end.
     */
    step: number;
    name: string;
    /**
     * How many sessions have it in their path.
     */
    count: number;
};

export type PathsAnswer = {
    /**
     * The URL paths or events at each step, largest first: at most the 1,000 largest, and those of the links.
     */
    nodes: Array<PathNode>;
    /**
     * The largest links, in order.
     */
    links: Array<PathLink>;
    /**
     * How often the links that are left out were taken.
     */
    others: number;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedPaths;
};

export type PauseConnectionResult = {
    status: 'success';
    connection: Connection;
    /**
     * Whether this changed anything.
     */
    changed: boolean;
    warnings?: Array<string>;
};

export type PauseWarehouseDestinationResult = {
    status: 'success';
    destination: WarehouseDestination;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type PauseWebhookResult = {
    status: 'success';
    webhook: Webhook;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type PersonalProperty = {
    name: string;
    /**
     * Whether AI agents see pseudonyms in place of its values.
     */
    is_hidden: boolean;
    /**
     * `service`: it is personal in every workspace. `workspace`: a list of the tenant has it. `name`: its name says so. null: nothing says that it is personal.
     */
    decided_by: 'service' | 'workspace' | 'name' | null;
    proposal: PersonalPropertyProposal | null;
};

export type PersonalPropertyProposal = {
    /**
     * `hide`: add it to `personal_properties` of the tenant. `show`: add it to `visible_properties`.
     */
    change: 'hide' | 'show';
    /**
     * `values`: most values are personal by their form, such as email addresses, or name contacts. `name`: a part of the name is of a personal property, or the name is of a sensitive one, such as a salary. `few_values`: only the name looks personal, and many records share each value.
     */
    because: 'name' | 'values' | 'few_values';
    /**
     * How many values were looked at.
     */
    values: number;
    /**
     * How many of these look personal by themselves.
     */
    personal_values: number;
};

export type PlainEvent = {
    event_id: string;
    _id: string;
    event: string;
    timestamp: string;
    /**
     * When the service received the event.
     */
    createdAt: string;
    data: {
        [key: string]: unknown;
    };
    internal_contact_id: string | null;
    url: string | null;
    /**
     * Host of url.
     */
    domain: string | null;
    visitor_id: string | null;
    session_id: string | null;
    referrer: string | null;
    referring_domain: string | null;
    /**
     * From the query of url, like the other four.
     */
    utm_source: string | null;
    utm_medium: string | null;
    utm_campaign: string | null;
    utm_term: string | null;
    utm_content: string | null;
    /**
     * Where the sender's network is: ISO 3166-1 alpha-2. The address itself is not stored.
     */
    country: string | null;
    /**
     * null unless the table of addresses has regions.
     */
    region: string | null;
    /**
     * null unless the table of addresses has cities.
     */
    city: string | null;
    browser: string | null;
    os: string | null;
    device_type: string | null;
    screen: string | null;
    user_agent: string | null;
    /**
     * The visitor's id in another analytics tool, if the page sends it.
     */
    analytics_user_id: string | null;
    /**
     * Whether the sender identifies itself as a bot.
     */
    is_bot: boolean;
    /**
     * Whether the host of url differs from the host of the page that sent the event.
     */
    origin_mismatch: boolean;
};

export type PlaybookTemplate = {
    name: string;
    description: string;
    capabilities: Array<string>;
    variables: {
        [key: string]: string;
    };
    prompt: string;
    title: string;
};

export type PlaybookTemplateResult = {
    status: 'success';
    playbook: PlaybookTemplate;
    warnings?: Array<string>;
};

export type PlaybookVersion = {
    playbook_version: number;
    since: string;
    playbook_template: string | null;
    /**
     * What it says: `playbook_md`, `variables`, `messages` and `config`, if the agent has them.
     */
    playbook: {
        [key: string]: unknown;
    };
    /**
     * The text that a model follows: `playbook_md`, else the prompt of the template, as it is today.
     */
    instructions: string | null;
};

export type PlaybookVersionResult = {
    status: 'success';
    version: PlaybookVersion;
    warnings?: Array<string>;
};

export type PlaybookVersionsPage = {
    status: 'success';
    versions: Array<ListedPlaybookVersion>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Playbooks = {
    templates: Array<PlaybookTemplate>;
    variables: Array<{
        /**
         * `contact.<property>` represents every property.
         */
        name: string;
        is_any_property: boolean;
    }>;
    capabilities: Array<{
        name: string;
        types: Array<'email_message' | 'social_message' | 'social_connect' | 'note' | 'crm_update'>;
    }>;
    /**
     * The model of an agent that sets none; null if there is none, and the template provider fills in the playbook's messages.
     */
    default_model: {
        provider: string;
        model: string;
    } | null;
    /**
     * The providers that this service can use.
     */
    configured_providers: Array<string>;
    max_contacts: {
        min: number;
        max: number;
        default: number;
    };
};

export type PlaybooksResult = {
    status: 'success';
    playbooks: Playbooks;
    warnings?: Array<string>;
};

export type PreviewAlertResult = {
    status: 'success';
    points: Array<AlertPreviewPoint>;
    /**
     * How often it would have fired.
     */
    fired: number;
    warnings?: Array<string>;
};

export type PreviewHookResult = {
    status: 'success';
    /**
     * The outcome that the body would have.
     */
    state: 'recorded' | 'skipped' | 'failed';
    error: {
        code: string;
        message: string;
        details: Array<ErrorDetail>;
    } | null;
    event: {
        name: string;
        /**
         * null: when the body arrives.
         */
        timestamp: string | null;
        id: string | null;
        url: string | null;
        data: {
            [key: string]: unknown;
        };
    } | null;
    contact: {
        email: string | null;
        user_id: string | null;
        external_id: string | null;
        properties: {
            [key: string]: string | number | boolean | Array<string | number | boolean>;
        };
    } | null;
    company: {
        domain: string;
        name: string | null;
        properties: {
            [key: string]: string | number | boolean | Array<string | number | boolean>;
        };
    } | null;
    warnings?: Array<string>;
};

export type PreviewSegmentResult = {
    status: 'success';
    count: number;
    /**
     * Some of the matching contacts; empty for companies.
     */
    sample: Array<SegmentMember>;
    /**
     * Some of the matching companies; empty for contacts.
     */
    companies: Array<Company>;
    took_ms: number;
    warnings?: Array<string>;
};

export type PreviewWebhookMessageResult = {
    status: 'success';
    /**
     * The given template, or the default text for the event.
     */
    template: string;
    text: string;
    warnings?: Array<string>;
};

export type PreviewedRow = {
    /**
     * 1 is the row below the header.
     */
    row: number;
    status: 'created' | 'updated' | 'unchanged' | 'failed';
    /**
     * null for a contact that would be created, and for a failed row.
     */
    contact_id: string | null;
    email: string | null;
    changes: Array<{
        property: string;
        before: string | null;
        after: string | null;
    }>;
    error: PreviewedRowError | null;
};

export type PreviewedRowError = {
    code: string;
    message: string;
};

export type Property = {
    /**
     * As conditions, groups and columns name it. In events, `data.order.total` is `total` in the object `order` of their data, and `\.` a dot in a key.
     */
    name: string;
    label: string;
    /**
     * What most of its values are. A text that is a number counts as one.
     */
    type: 'text' | 'number' | 'boolean' | 'date' | 'list';
    /**
     * What its values are. A `time` is a text with a date, with or without a time of day.
     */
    kinds: Array<'text' | 'number' | 'boolean' | 'time' | 'list'>;
    /**
     * Whether people can set it: not if the service derives or computes it, or it records a consent.
     */
    is_editable: boolean;
    /**
     * Whether it is a computed property.
     */
    is_computed: boolean;
    /**
     * Whether lists and exports include it by default.
     */
    is_usual: boolean;
    /**
     * The only values it may have; null for any.
     */
    choices: Array<string> | null;
    /**
     * How many values of it the newest 2,000 records or 10,000 events have; null for columns, which every record has.
     */
    values_seen: number | null;
    /**
     * When the latest of these events happened, or the latest of these records changed; null for columns and if `values_seen` is 0.
     */
    last_seen_at: string | null;
    /**
     * Its 5 most frequent values, most frequent first. Missing for columns and for personal properties.
     */
    top_values?: Array<string | number | boolean>;
};

/**
 * Of a contact: a property key or a column such as created_at; `company.` and a property of its company, or its name or domain; or `segment`, with `in` or `not_in` and ids of segments. `properties.` and a key is a property whose name is one of these words. Of an event: a field such as url_path; `data.` and the path of a value in its data, where dots go into objects and lists and `\.` is a dot in a key; `contact.` or `company.` and a property of the event's contact or its company.
 */
export type PropertyCondition = {
    property: string;
    operator: 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'starts_with' | 'ends_with' | 'in' | 'not_in' | 'is_set' | 'is_not_set' | 'gt' | 'gte' | 'lt' | 'lte' | 'before' | 'after' | 'within_days';
    value?: string | number | boolean | Array<string | number | boolean>;
    /**
     * Set in filters of AI agents from whom personal data is hidden: texts are compared without addresses, phone numbers and names, and those of events by whole words.
     */
    visible_only?: true;
};

export type PropertyResult = {
    status: 'success';
    property: Property;
    warnings?: Array<string>;
};

export type Provenance = {
    source: string;
    updated_at: string;
};

export type ProviderFindings = {
    provider_id: string;
    /**
     * Its name.
     */
    provider: string;
    /**
     * The source that it fills contacts as.
     */
    source: string;
    /**
     * Whether it is switched on.
     */
    enabled: boolean;
    /**
     * `filled`: it filled something, now or earlier. `nothing`: it knew nothing new. `failed`: see `error`. null if it was not asked.
     */
    outcome: 'filled' | 'nothing' | 'failed' | null;
    /**
     * What it filled and the contact still has: names of properties, `company_id`, and `company.<property>` of the company.
     */
    filled: Array<string>;
    /**
     * When it was last asked, or its earlier answer used.
     */
    at: string | null;
    error: RecordError | null;
};

export type PushSourceContactsResult = {
    status: 'success';
    results: Array<{
        /**
         * Index of the record in the request.
         */
        index: number;
        external_id: string | null;
        status: 'created' | 'updated' | 'unchanged' | 'failed';
        contact_id?: string;
        error?: RecordError;
    }>;
    /**
     * How many records failed.
     */
    failed: number;
    warnings?: Array<string>;
};

export type PushSourceConversationsResult = {
    status: 'success';
    results: Array<{
        /**
         * Index of the record in the request.
         */
        index: number;
        thread_key: string | null;
        status: 'created' | 'updated' | 'unchanged' | 'failed';
        thread_id?: string;
        /**
         * Number of new messages.
         */
        recorded?: number;
        error?: RecordError;
    }>;
    /**
     * Number of failed records.
     */
    failed: number;
    warnings?: Array<string>;
};

export type QuietHours = {
    from: string;
    to: string;
};

export type ReadSharedResult = {
    status: 'success';
    /**
     * The name of the report or the dashboard.
     */
    name: string;
    kind: 'report' | 'dashboard';
    /**
     * Of days, weeks and months, if a question has no other.
     */
    time_zone: string;
    /**
     * When the figures were computed: at most a minute ago.
     */
    answered_at: string;
    /**
     * A report alone is the only tile.
     */
    tiles: Array<SharedTile>;
    warnings?: Array<string>;
};

export type ReadyResult = {
    status: 'ok';
    postgres: string;
    clickhouse: string;
    warnings?: Array<string>;
};

export type ReceiveHookResult = {
    status: 'success';
    body_id: string;
    /**
     * `pending`: the mapping has not run yet. `recorded`: the records were written. `skipped`: the mapping skipped it. `failed`: the mapping could not turn it into records.
     */
    state: 'pending' | 'recorded' | 'skipped' | 'failed';
    /**
     * Why the body was skipped or failed, or why the last attempt did not finish.
     */
    error: RecordError | null;
    /**
     * The name of its event.
     */
    event: string | null;
    warnings?: Array<string>;
};

export type RecordError = {
    code: string;
    message: string;
};

export type RecoverVisitorResult = {
    status: 'success';
    visitor_id: string;
    recovered: boolean;
    warnings?: Array<string>;
};

export type RejectActionsResult = {
    status: 'success';
    decisions: Array<Decision>;
    warnings?: Array<string>;
};

export type RememberedMapping = {
    file_name: string;
    used_at: string;
};

export type RemoveDomainResult = {
    status: 'success';
    deleted: true;
    domain_id: string;
    domain: string;
    warnings?: Array<string>;
};

export type RemoveEmailAccountResult = {
    status: 'success';
    deleted: true;
    identity_id: string;
    warnings?: Array<string>;
};

export type RemoveMemberResult = {
    status: 'success';
    deleted: true;
    user_id: string;
    warnings?: Array<string>;
};

export type RemoveSuppressionResult = {
    status: 'success';
    deleted: true;
    suppression: Suppression;
    warnings?: Array<string>;
};

export type RenewInvitationResult = {
    status: 'success';
    invitation: Invitation;
    link: string | null;
    /**
     * Whether the link was sent.
     */
    mailed: boolean;
    warnings?: Array<string>;
};

export type ReplayAgentResult = {
    status: 'success';
    /**
     * The model provider, or `template`.
     */
    provider: string;
    model: string | null;
    notices: Array<string>;
    /**
     * The version that `current` follows.
     */
    playbook_version: number;
    /**
     * In the order of the contacts. `current` follows the stored playbook, and `proposed` the one that was sent.
     */
    items: Array<ReplayedContact>;
    usage: TokenUsage;
    warnings?: Array<string>;
};

export type ReplayedContact = {
    contact_id: string;
    contact: EvaluatedContact | null;
    current: TriedEvaluation;
    proposed: TriedEvaluation;
};

export type Report = {
    report_id: string;
    name: string;
    /**
     * The kind of question.
     */
    kind: 'trend' | 'funnel' | 'retention' | 'paths' | 'web';
    /**
     * The question, with the fields of the operation of its kind.
     */
    question: {
        [key: string]: unknown;
    };
    /**
     * When a link that anybody can read was created; null without one.
     */
    shared_at: string | null;
    created_at: string;
    updated_at: string;
};

export type ReportResult = {
    status: 'success';
    report: Report;
    warnings?: Array<string>;
};

export type ReportsPage = {
    status: 'success';
    reports: Array<Report>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type RequestProblem = {
    problem_id: string;
    at: string;
    method: string;
    path: string;
    /**
     * The status that was returned: 200 if there were only warnings, or for a tracker script that only says what is wrong.
     */
    status: number;
    /**
     * The error code, or `warnings`.
     */
    code: string;
    /**
     * What was wrong, or what was ignored and why.
     */
    messages: Array<string>;
    page_host: string | null;
    domain_to_add: string | null;
    visitor_id: string | null;
    user_agent: string;
    body: string | null;
    /**
     * More problems of about the same time, which are not listed.
     */
    skipped: number;
};

export type RequestProblemsPage = {
    status: 'success';
    problems: Array<RequestProblem>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type RequestedContact = {
    contact_id: string;
    /**
     * `waiting`: it is written within seconds. `not_found`: no contact has this id. `no_email`: the system does not have the contact, which has no email. `opted_out`: the system does not have the contact, and something stops outreach to it, so it is not created.
     */
    status: 'waiting' | 'not_found' | 'no_email' | 'opted_out';
};

export type RereadMailboxResult = {
    status: 'success';
    identity_id: string;
    warnings?: Array<string>;
};

export type ResendWebhookDeliveriesResult = {
    status: 'success';
    subscription_id: string;
    /**
     * The number of deliveries sent again, or earlier than planned.
     */
    resent: number;
    /**
     * Send it as `after` to continue; null if nothing is left.
     */
    next: string | null;
    warnings?: Array<string>;
};

export type ResumeConnectionResult = {
    status: 'success';
    connection: Connection;
    /**
     * Whether this changed anything.
     */
    changed: boolean;
    warnings?: Array<string>;
};

export type ResumeWarehouseDestinationResult = {
    status: 'success';
    destination: WarehouseDestination;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type ResumeWebhookResult = {
    status: 'success';
    webhook: Webhook;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type RetentionAnswer = {
    /**
     * One for each interval of the range.
     */
    cohorts: Array<RetentionCohort>;
    /**
     * For each interval after: all who came back as a part of all people, of the cohorts where it is over.
     */
    average: Array<number | null>;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedRetention;
};

export type RetentionCohort = {
    from: string;
    /**
     * How many people the cohort has.
     */
    size: number;
    /**
     * How many of them came back in the first, second … interval after; null where it is not over.
     */
    returned: Array<number | null>;
};

export type RevealHookUrlResult = {
    status: 'success';
    hook_id: string;
    name: string;
    /**
     * The URL to enter in the sending system. It contains the token.
     */
    url: string;
    warnings?: Array<string>;
};

export type RevokeApiKeyResult = {
    status: 'success';
    revoked: true;
    key_id: string;
    warnings?: Array<string>;
};

export type RevokeConnectedAppResult = {
    status: 'success';
    revoked: true;
    grant_id: string;
    name: string;
    warnings?: Array<string>;
};

export type RotateHookTokenResult = {
    status: 'success';
    hook: Hook;
    /**
     * The last part of the URL. Whoever has it can send bodies.
     */
    token: string;
    /**
     * The URL to enter in the sending system. It contains the token.
     */
    url: string;
    old_token_expires_at: string;
    warnings?: Array<string>;
};

export type RotateIdentitySecretResult = {
    status: 'success';
    /**
     * The HMAC-SHA256 key that computes a user_hash.
     */
    identity_secret: string;
    previous_valid_until: string | null;
    warnings?: Array<string>;
};

export type RotateWebhookSecretResult = {
    status: 'success';
    subscription_id: string;
    /**
     * Returned this once.
     */
    signing_secret: string;
    previous_secret_until: string;
    switch_at: string;
    warnings?: Array<string>;
};

export type RotateWriteKeyResult = {
    status: 'success';
    source: Source;
    /**
     * Returned only once.
     */
    write_key: string;
    old_key_expires_at: string;
    warnings?: Array<string>;
};

export type Run = {
    run_id: string;
    _id: string;
    agent_id: string;
    status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
    /**
     * `event`, `segment_entered` and `score`: a trigger of the agent, which is in `triggered_by`. `proposal`: the run records an action that someone proposed for the agent, which evaluated nothing.
     */
    trigger: 'manual' | 'schedule' | 'event' | 'segment_entered' | 'score' | 'proposal';
    /**
     * The trigger of the agent that noticed the contacts; null if no trigger did.
     */
    triggered_by: AgentTrigger | null;
    requested_by: Actor;
    /**
     * The version of the playbook that it follows; null for a proposal.
     */
    playbook_version: number | null;
    provider: string | null;
    model: string | null;
    notices: Array<string>;
    error: string | null;
    created_at: string;
    started_at: string | null;
    completed_at: string | null;
    summary: RunSummary;
    usage: TokenUsage;
};

export type RunContact = {
    contact_id: string;
    contact: EvaluatedContact | null;
    status: 'pending' | 'evaluated' | 'failed' | 'skipped' | 'proposed';
    reasoning: string | null;
    error: string | null;
    proposed_actions: Array<Action>;
    /**
     * The actions that were not proposed, each with the action of an earlier run that waits for approval instead.
     */
    skipped_actions: Array<{
        type: 'email_message' | 'social_message' | 'social_connect' | 'note' | 'crm_update';
        reason: 'waits_for_approval';
        run_id: string;
        action_index: number;
    }>;
    /**
     * What the model looked up about the contact, in order.
     */
    tool_calls: Array<RunToolCall>;
};

export type RunContactsPage = {
    status: 'success';
    contacts: Array<RunContact>;
    /**
     * How many contacts the run has evaluated or skipped so far.
     */
    done: number;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type RunDashboardResult = {
    status: 'success';
    dashboard: Dashboard;
    /**
     * One for each tile, in their order.
     */
    results: Array<TileResult>;
    warnings?: Array<string>;
};

export type RunDetail = {
    run_id: string;
    _id: string;
    agent_id: string;
    status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
    /**
     * `event`, `segment_entered` and `score`: a trigger of the agent, which is in `triggered_by`. `proposal`: the run records an action that someone proposed for the agent, which evaluated nothing.
     */
    trigger: 'manual' | 'schedule' | 'event' | 'segment_entered' | 'score' | 'proposal';
    /**
     * The trigger of the agent that noticed the contacts; null if no trigger did.
     */
    triggered_by: AgentTrigger | null;
    requested_by: Actor;
    /**
     * The version of the playbook that it follows; null for a proposal.
     */
    playbook_version: number | null;
    provider: string | null;
    model: string | null;
    notices: Array<string>;
    error: string | null;
    created_at: string;
    started_at: string | null;
    completed_at: string | null;
    summary: RunSummary;
    usage: TokenUsage;
    contact_results?: Array<RunContact>;
};

export type RunDetailResult = {
    status: 'success';
    run: RunDetail;
    warnings?: Array<string>;
};

export type RunReportResult = {
    status: 'success';
    report: Report;
    /**
     * The answer of the operation of the kind.
     */
    answer: TrendAnswer | FunnelAnswer | RetentionAnswer | PathsAnswer | WebAnswer;
    warnings?: Array<string>;
};

export type RunResult = {
    status: 'success';
    run: Run;
    warnings?: Array<string>;
};

export type RunSummary = {
    contacts_evaluated: number;
    actions_proposed: number;
    actions_auto_approved: number;
    actions_pending_approval: number;
    /**
     * Not proposed, because an action of the same type for the contact already waits for approval.
     */
    actions_skipped: number;
    errors: number;
};

export type RunToolCall = {
    tool: string;
    arguments: {
        [key: string]: unknown;
    };
    /**
     * The length of what the model read.
     */
    characters: number;
    /**
     * Why it failed; null if it did not.
     */
    error: string | null;
    at: string;
    title: string;
};

export type RunWarehouseExportResult = {
    status: 'success';
    run_id: string;
    is_new: boolean;
    warnings?: Array<string>;
};

export type SavedView = {
    view_id: string;
    name: string;
    page: 'contacts' | 'companies' | 'events';
    query: {
        [key: string]: string | number | boolean | Array<string>;
    };
    columns: Array<string>;
    created_by: NamedActor | null;
    created_at: string;
    updated_at: string;
};

export type SavedViewResult = {
    status: 'success';
    view: SavedView;
    warnings?: Array<string>;
};

export type ScoreReason = {
    points: number;
    /**
     * The filter of the rule as a sentence.
     */
    text: string;
};

export type ScoreRule = {
    filter: SegmentFilter;
    /**
     * Added to the score while the filter matches; may be negative.
     */
    points: number;
};

export type SdkBatch = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * 1 to 2,500 calls; `type` is one of track, identify, page, screen, group, alias.
     */
    batch: Array<unknown>;
    /**
     * Added to the context of each call.
     */
    context?: unknown;
    [key: string]: unknown;
};

export type SdkCall = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * Your own system's id for the person: a string or a number.
     */
    userId?: unknown;
    /**
     * The visitor: a string of at most 200 characters.
     */
    anonymousId?: unknown;
    /**
     * Any text. The call is recorded once, however often its source sends it.
     */
    messageId?: unknown;
    /**
     * When it happened: ISO 8601, in UTC if it has no offset, or seconds or milliseconds since 1970. It is preferred to originalTimestamp.
     */
    timestamp?: unknown;
    /**
     * Page, locale, time zone, screen, user agent and traits.
     */
    context?: unknown;
    [key: string]: unknown;
};

export type SdkResult = {
    status: 'success';
    success: true;
    warnings?: Array<string>;
};

export type SeenEvent = {
    event_id: string;
    event: string;
    timestamp: string;
    url: string | null;
    visitor_id: string;
    contact_id: string | null;
};

export type Segment = {
    segment_id: string;
    _id: string;
    name: string;
    description: string | null;
    /**
     * What the members are. It cannot be changed.
     */
    entity: 'contacts' | 'companies';
    contact_count: number | null;
    company_count: number | null;
    /**
     * Whether members are still being counted, because the segment is new or its filter changed.
     */
    counting: boolean;
    filter: SegmentFilter;
    created_at: string;
};

export type SegmentChange = {
    change: 'entered' | 'left';
    timestamp: string;
    /**
     * null if the contact was deleted.
     */
    contact_id: string | null;
    contact: JoinedContact | null;
    after: SegmentChangeCause | null;
};

/**
 * What the contact did, or what changed, in the minute before; null if nothing is known: time may have passed, or an event arrived late.
 */
export type SegmentChangeCause = {
    event: string;
    timestamp: string;
    url: string | null;
    /**
     * The properties that changed, of `contact_updated`.
     */
    properties: Array<string>;
    values: {
        [key: string]: string | number | boolean | Array<string | number | boolean>;
    };
    title: string | null;
};

export type SegmentChangesPage = {
    status: 'success';
    changes: Array<SegmentChange>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type SegmentCompaniesPage = {
    status: 'success';
    segment_name: string;
    /**
     * Whether members are still being counted: the list may be incomplete or have extra companies.
     */
    counting: boolean;
    companies: Array<Company>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type SegmentContactsPage = {
    status: 'success';
    segment_name: string;
    /**
     * Whether members are still being counted: the list may be incomplete or have extra contacts.
     */
    counting: boolean;
    contacts: Array<SegmentMember>;
    pagination: Pagination;
    warnings?: Array<string>;
};

/**
 * The contacts that belong to the segment. Negative operators match a missing value.
 */
export type SegmentFilter = {
    match: 'all' | 'any';
    conditions: Array<PropertyCondition | {
        event: EventMatch;
        operator: 'did' | 'did_not';
    } | {
        /**
         * 2 to 10 events, each after the one before it.
         */
        sequence: Array<EventMatch>;
        /**
         * The most time from the first event to the last.
         */
        within: {
            value: number;
            unit: 'minute' | 'hour' | 'day' | 'week';
        };
        operator: 'did' | 'did_not';
    } | {
        insight: 'trend' | 'funnel' | 'retention' | 'paths' | 'web';
        question: {
            [key: string]: unknown;
        };
        at: {
            [key: string]: unknown;
        };
        operator: 'did' | 'did_not';
        /**
         * Set in filters of AI agents from whom personal data is hidden: texts are compared without addresses, phone numbers and names, and those of events by whole words.
         */
        visible_only?: true;
    } | NestedFilter | SegmentFilter>;
};

export type SegmentMember = {
    contact_id: string;
    /**
     * Transitional alias of contact_id; will be removed.
     */
    _id: string;
    properties: {
        [key: string]: string | number | boolean | Array<string | number | boolean>;
    };
    company_id: string | null;
    segment_ids: Array<string>;
    created_at: string;
};

export type SegmentResult = {
    status: 'success';
    segment: Segment;
    warnings?: Array<string>;
};

export type SegmentsPage = {
    status: 'success';
    segments: Array<Segment>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type SendEventsResult = {
    status: 'success';
    results: Array<{
        /**
         * Index of the event in the request.
         */
        index: number;
        status: 'accepted' | 'failed';
        event_id?: string;
        /**
         * null for an anonymous visitor.
         */
        contact_id?: string | null;
        error?: RecordError;
    }>;
    /**
     * How many events failed.
     */
    failed: number;
    warnings?: Array<string>;
};

export type SentParticipant = {
    address?: string | null;
    name?: string | null;
};

export type SetConnectionActivitiesResult = {
    status: 'success';
    connection: Connection;
    /**
     * Whether this changed anything.
     */
    changed: boolean;
    warnings?: Array<string>;
};

export type SetConnectionWriteBackResult = {
    status: 'success';
    connection: Connection;
    /**
     * Whether this changed anything.
     */
    changed: boolean;
    warnings?: Array<string>;
};

export type Share = {
    /**
     * Where the dashboard shows the figures. Whoever has it can read them.
     */
    url: string;
    created_at: string;
};

export type ShareResult = {
    status: 'success';
    share: Share;
    warnings?: Array<string>;
};

export type SharedReport = {
    name: string;
    /**
     * The kind of question.
     */
    kind: 'trend' | 'funnel' | 'retention' | 'paths' | 'web';
    /**
     * The question without its conditions. `is_filtered` marks an event that has some.
     */
    question: {
        [key: string]: unknown;
    };
    /**
     * Whether conditions that are not shown leave out events or people.
     */
    is_filtered: boolean;
    /**
     * Of a trend without a formula, the labels of the series are letters, A for the first one of the question. null if there is a `problem`.
     */
    answer: TrendAnswer | FunnelAnswer | RetentionAnswer | PathsAnswer | WebAnswer | null;
    /**
     * not_shareable: it has been changed, and its answer could now show who people are. no_answer: the question cannot be answered at the moment.
     */
    problem: 'not_shareable' | 'no_answer' | null;
};

export type SharedTile = {
    /**
     * The first of its columns, of 12.
     */
    x: number;
    /**
     * The first of its rows.
     */
    y: number;
    /**
     * How many columns it covers.
     */
    width: number;
    /**
     * How many rows it covers.
     */
    height: number;
    /**
     * What it shows of the report. `number`: its main figure, beside that of the period before. Default: chart.
     */
    view?: 'chart' | 'number' | 'table';
    /**
     * In place of a report: Markdown.
     */
    text?: string;
    report?: SharedReport;
};

export type SocialCheckResult = {
    status: 'success';
    connected: boolean;
    profile_id: string | null;
    checked_at: string;
    warnings?: Array<string>;
};

export type SocialLoginCodeResult = {
    status: 'success';
    session_id: string;
    login_result: LoginResult;
    warnings?: Array<string>;
};

export type SocialLoginResult = {
    status: 'success';
    message: string;
    identity_id: string;
    login_result: LoginResult;
    warnings?: Array<string>;
};

export type SocialLoginStatusResult = {
    status: 'queued' | 'running' | 'awaiting_2fa' | 'awaiting_email' | 'completed' | 'failed';
    session_id: string;
    identity_id: string;
    profile_id: string | null;
    error?: LoginError;
    login_result: LoginResult;
    warnings?: Array<string>;
};

export type Source = {
    source_id: string;
    name: string;
    /**
     * `browser`: a website, whose key is public. `server`: a server, whose key is secret. `connector`: a connected system, such as a CRM, which writes under its name with an API key.
     */
    type: 'browser' | 'server' | 'connector';
    /**
     * The kind of a connector, such as crm; null for the others.
     */
    kind: string | null;
    /**
     * The last 4 characters of the write key; null for a connector.
     */
    key_hint: string | null;
    key_created_at: string | null;
    created_at: string;
    /**
     * When it last sent something; null if never. Up to a minute late.
     */
    last_seen_at: string | null;
    /**
     * Accepted events in the last 24 hours, in whole hours; null for a connector.
     */
    events_last_day: number | null;
};

export type SourceResult = {
    status: 'success';
    source: Source;
    warnings?: Array<string>;
};

export type SourcesPage = {
    status: 'success';
    sources: Array<Source>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type StartAuthorizationResult = {
    status: 'success';
    authorization_url: string;
    expires_at: string;
    warnings?: Array<string>;
};

export type StoredActivities = {
    /**
     * Notes and mails that have not been stored yet.
     */
    waiting: number;
    /**
     * Why the last one could not be stored. It is retried.
     */
    error: string | null;
};

export type SubmitFormResult = {
    status: 'success';
    contact_id: string;
    company_id: string | null;
    warnings?: Array<string>;
};

export type SubscriptionError = {
    code: string;
    message: string;
};

export type SuggestSegmentValuesResult = {
    status: 'success';
    property: string;
    values: Array<{
        value: string | number | boolean;
        label: string | null;
        /**
         * The number of contacts or events with this value.
         */
        count: number;
    }>;
    warnings?: Array<string>;
};

export type Suppression = {
    /**
     * A digest (`sha256:…`) if its owner was erased.
     */
    address: string;
    reason: 'unsubscribed' | 'bounced' | 'complained' | 'manual';
    details: string | null;
    at: string;
};

export type SuppressionResult = {
    status: 'success';
    suppression: Suppression;
    warnings?: Array<string>;
};

export type SuppressionsPage = {
    status: 'success';
    suppressions: Array<Suppression>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Tenant = {
    tenant_id: string;
    _id: string;
    name: string;
    /**
     * The IANA time zone in which the dashboard shows times. Default: UTC.
     */
    time_zone: string;
    /**
     * Whether identifications that pages send without a valid user_hash are ignored.
     */
    require_signed_identification: boolean;
    identity_secret: {
        created_at: string;
        previous_valid_until: string | null;
    } | null;
    /**
     * Names of properties and of fields in the data of events that are hidden from AI agents, besides names, addresses and other personal values.
     */
    personal_properties: Array<string>;
    /**
     * Names of properties and of fields in the data of events that AI agents see, although their names or their values look personal.
     */
    visible_properties: Array<string>;
    /**
     * Words that are no user id, visitor id or id of a record, besides `undefined`, `null`, `anonymous` and other words that name nobody.
     */
    ignored_ids: Array<string>;
    /**
     * When an owner closed it; null while it is open.
     */
    closed_at: string | null;
    /**
     * When it will be deleted, if it is not reopened; null while it is open.
     */
    deletes_at: string | null;
    created_at: string;
};

export type TenantResult = {
    status: 'success';
    tenant: Tenant;
    warnings?: Array<string>;
};

export type TestEnrichmentProviderResult = {
    status: 'success';
    provider: EnrichmentProvider;
    test: EnrichmentProviderTest;
    warnings?: Array<string>;
};

export type TestWarehouseDestinationResult = {
    status: 'success';
    destination_id: string;
    ok: true;
    warnings?: Array<string>;
};

export type TestWebhookResult = {
    status: 'success';
    subscription_id: string;
    delivery_id: string;
    warnings?: Array<string>;
};

export type Tile = {
    /**
     * The report that it shows.
     */
    report_id?: string;
    /**
     * What it shows of the report. `number`: its main figure, beside that of the period before. Default: chart.
     */
    view?: 'chart' | 'number' | 'table';
    /**
     * In place of a report: Markdown.
     */
    text?: string;
    /**
     * The first of its columns, of 12.
     */
    x: number;
    /**
     * The first of its rows.
     */
    y: number;
    /**
     * How many columns it covers.
     */
    width: number;
    /**
     * How many rows it covers.
     */
    height: number;
};

export type TileResult = {
    /**
     * null for a text.
     */
    report: Report | null;
    /**
     * What was asked: the question of the report with the range and the conditions of the dashboard. null for a text.
     */
    question: {
        [key: string]: unknown;
    } | null;
    /**
     * null for a text, and if there is an error.
     */
    answer: TrendAnswer | FunnelAnswer | RetentionAnswer | PathsAnswer | WebAnswer | null;
    /**
     * Why the question has no answer.
     */
    error: {
        code: string;
        message: string;
        details?: Array<ErrorDetail>;
    } | null;
};

export type TimelineEvent = {
    kind: 'event';
    event: Event;
};

export type TimelineVisit = {
    kind: 'visit';
    visit: Visit;
};

export type TokenUsage = {
    input_tokens: number;
    output_tokens: number;
    cost_usd: number;
};

export type ToolCall = {
    tool: string;
    arguments: {
        [key: string]: unknown;
    };
    /**
     * Why it failed; the model then tried something else.
     */
    error: string | null;
    title: string;
};

export type TopPage = {
    url_path: string;
    views: number;
    title: string | null;
};

export type TrackResult = {
    status: 'success';
    accepted: number;
    visitor_id: string;
    session_id: string;
    warnings?: Array<string>;
};

export type TrendAnswer = {
    intervals: Array<string>;
    series: Array<TrendFigures>;
    /**
     * The values that have no series of their own, together.
     */
    others?: Array<TrendFiguresOfOthers>;
    /**
     * The properties whose values each `breakdown` has, as the question names them.
     */
    breakdown_by?: Array<string>;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedTrend;
};

export type TrendFigures = {
    /**
     * The `label` that was sent, or the names of the events.
     */
    label: string;
    total: number | null;
    /**
     * One figure for each interval.
     */
    points: Array<number | null>;
    /**
     * The value of each property of the breakdown.
     */
    breakdown?: Array<string | number | boolean | null>;
};

export type TrendFiguresOfOthers = {
    /**
     * The `label` that was sent, or the names of the events.
     */
    label: string;
    total: number | null;
    /**
     * One figure for each interval.
     */
    points: Array<number | null>;
};

export type TrendSeries = {
    /**
     * Exact event name.
     */
    event?: string;
    /**
     * One of these event names, in place of `event`.
     */
    types?: Array<string>;
    /**
     * Conditions on the event; all must be true.
     */
    where?: Array<unknown>;
    /**
     * How the answer names it.
     */
    label?: string;
    /**
     * The figure: the number of events, one computed from the numbers in `property`, or the number of different people, contacts, visitors or sessions. per_person: events for each person.
     */
    metric?: 'count' | 'avg' | 'sum' | 'min' | 'max' | 'median' | 'p90' | 'unique_contacts' | 'unique_visitors' | 'unique_people' | 'unique_sessions' | 'per_person';
    /**
     * Required for sum, avg, min, max, median and p90: `data.<path>` or a key of data.
     */
    property?: string;
};

export type TriedAction = {
    type: 'email_message' | 'social_message' | 'social_connect' | 'note' | 'crm_update';
    params: {
        [key: string]: unknown;
    };
    identity_id: string | null;
    /**
     * The status that the action would have in a run.
     */
    status: 'pending_approval' | 'approved' | 'rejected';
    /**
     * The results of the checks before it was proposed and before it was executed.
     */
    guardrails: Array<Guardrail>;
    error: ActionError | null;
};

export type TriedEvaluation = {
    status: 'evaluated' | 'failed' | 'skipped';
    reasoning: string | null;
    error: string | null;
    /**
     * What the model looked up about the contact, in order.
     */
    tool_calls: Array<RunToolCall>;
    proposed_actions: Array<TriedAction>;
};

export type TriggerAgentResult = {
    status: 'success';
    /**
     * The id of the run, which can be read at once.
     */
    job_id: string;
    warnings?: Array<string>;
};

export type UnchangedRecord = {
    id: string;
    error: RecordError;
};

export type UndoDecisionsResult = {
    status: 'success';
    decisions: Array<Decision>;
    warnings?: Array<string>;
};

export type UnifiedProfile = {
    _id: string;
    source_count: number;
    sources: {
        [key: string]: {
            external_id?: string;
            first_seen_at?: string;
            updated_at?: string;
            synced_at?: string;
            enriched_at?: string;
        };
    };
    profile: {
        [key: string]: {
            unique_values: Array<{
                value: unknown;
                sources: Array<Provenance>;
            }>;
            all_sources: Array<string>;
            has_conflict: boolean;
        };
    };
    created_at: string;
    updated_at: string;
    enriched_at: string | null;
    raw_data?: {
        [key: string]: unknown;
    };
};

export type UnmergeContactResult = {
    status: 'success';
    contact: Contact;
    unmerged_from: string;
    warnings?: Array<string>;
};

export type UnshareDashboardResult = {
    status: 'success';
    deleted: true;
    dashboard_id: string;
    warnings?: Array<string>;
};

export type UnshareReportResult = {
    status: 'success';
    deleted: true;
    report_id: string;
    warnings?: Array<string>;
};

export type UnsubscribeFromDashboardResult = {
    status: 'success';
    deleted: true;
    dashboard_id: string;
    warnings?: Array<string>;
};

export type UpdateAgentSettingsResult = {
    status: 'success';
    settings: AgentSettings;
    /**
     * The cost of models in the current calendar month (UTC).
     */
    cost_this_month_usd: number;
    warnings?: Array<string>;
};

export type UpdateAlertResult = {
    status: 'success';
    alert: Alert;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateApiKeyResult = {
    status: 'success';
    key: ApiKey;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateComputedPropertyResult = {
    status: 'success';
    computed_property: ComputedProperty;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateConnectedAppResult = {
    status: 'success';
    connected_app: ConnectedApp;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateDashboardResult = {
    status: 'success';
    dashboard: Dashboard;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateEnrichmentProviderResult = {
    status: 'success';
    provider: EnrichmentProvider;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateHookResult = {
    status: 'success';
    hook: Hook;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    /**
     * The number of kept bodies that are now recorded.
     */
    retried_bodies: number;
    warnings?: Array<string>;
};

export type UpdateReportResult = {
    status: 'success';
    report: Report;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateSegmentResult = {
    status: 'success';
    segment: Segment;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateSourceResult = {
    status: 'success';
    source: Source;
    changed: boolean;
    warnings?: Array<string>;
};

export type UpdateTenantResult = {
    status: 'success';
    tenant: Tenant;
    personal_properties?: ListChanges;
    visible_properties?: ListChanges;
    ignored_ids?: ListChanges;
    warnings?: Array<string>;
};

export type UpdateWarehouseDestinationResult = {
    status: 'success';
    destination: WarehouseDestination;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

export type UpdateWebhookResult = {
    status: 'success';
    webhook: Webhook;
    /**
     * The names of the fields that changed.
     */
    changed: Array<string>;
    warnings?: Array<string>;
};

/**
 * Deliver only events with one of these URLs.
 */
export type UrlFilter = {
    match: 'all' | 'any';
    conditions: Array<{
        operator: 'contains' | 'not_contains' | 'equals' | 'starts_with' | 'ends_with';
        value: string;
    }>;
};

export type VerifyDomainResult = {
    status: 'success';
    domain: Domain;
    check: {
        /**
         * Whether a proof was found now.
         */
        verified: boolean;
        /**
         * The proof that was found; the first one of several.
         */
        method: 'dns' | 'file' | 'meta' | 'local';
        /**
         * What each place has; empty for a local domain.
         */
        attempts: Array<{
            method: 'dns' | 'file' | 'meta';
            outcome: 'found' | 'nothing' | 'other_value' | 'unreachable';
            /**
             * The values found there.
             */
            found: Array<string>;
        }>;
    };
    warnings?: Array<string>;
};

export type ViewsPage = {
    status: 'success';
    views: Array<SavedView>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type Visit = {
    visitor_id: string | null;
    session_id: string;
    started_at: string;
    ended_at: string;
    /**
     * From the first to the last event.
     */
    duration_seconds: number;
    page_views: number;
    /**
     * All events, including page views.
     */
    event_count: number;
    /**
     * The names of its events, sorted; at most 50.
     */
    event_names: Array<string>;
    /**
     * URL of the first page.
     */
    entry_url: string | null;
    /**
     * Title of the first page.
     */
    entry_title: string | null;
    /**
     * URL of the last page.
     */
    exit_url: string | null;
    /**
     * Referrer of the first page.
     */
    referrer: string | null;
    /**
     * Host of the referrer; null if it is the site's own.
     */
    referring_domain: string | null;
    /**
     * From the URL of the first page, like the other two.
     */
    utm_source: string | null;
    utm_medium: string | null;
    utm_campaign: string | null;
    country: string | null;
    region: string | null;
    city: string | null;
    browser: string | null;
    os: string | null;
    device_type: string | null;
    is_bot: boolean;
    internal_contact_id: string | null;
    contact: JoinedContact | null;
    company: JoinedCompany | null;
};

export type Visitor = {
    visitor_id: string;
    /**
     * The contact that the latest event belongs to.
     */
    contact: JoinedContact | null;
    first_seen_at: string;
    last_seen_at: string;
    events: number;
    sessions: number;
    first_url: string | null;
    first_referrer: string | null;
    /**
     * Of the latest event whose place is known, like region and city.
     */
    country: string | null;
    region: string | null;
    city: string | null;
    browser: string | null;
    os: string | null;
    device_type: string | null;
    screen: string | null;
    /**
     * Whether all its events are from a bot.
     */
    is_bot: boolean;
};

export type VisitorResult = {
    status: 'success';
    visitor: Visitor;
    warnings?: Array<string>;
};

export type VisitsPage = {
    status: 'success';
    visits: Array<Visit>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type WarehouseDestination = {
    destination_id: string;
    name: string;
    type: 'folder' | 's3';
    /**
     * Where the files are: a URL, or a path in the operator's folder.
     */
    location: string;
    prefix: string;
    endpoint: string | null;
    region: string | null;
    bucket: string | null;
    access_key_id: string | null;
    /**
     * null: exports run only when you start them.
     */
    schedule: string | null;
    time_zone: string;
    status: 'active' | 'paused';
    next_run_at: string | null;
    last_run: WarehouseRun | null;
    created_at: string;
    updated_at: string;
};

export type WarehouseDestinationResult = {
    status: 'success';
    destination: WarehouseDestination;
    warnings?: Array<string>;
};

export type WarehouseDestinationsPage = {
    status: 'success';
    destinations: Array<WarehouseDestination>;
    pagination: Pagination;
    /**
     * Whether destinations of the type `folder` are available.
     */
    has_folders: boolean;
    warnings?: Array<string>;
};

export type WarehouseRun = {
    run_id: string;
    destination_id: string;
    /**
     * `retrying`: the run failed and will continue at next_attempt_at.
     */
    status: 'queued' | 'running' | 'retrying' | 'succeeded';
    trigger: 'schedule' | 'manual';
    /**
     * Whether the run exports all events again.
     */
    is_full: boolean;
    /**
     * The files, rows and bytes that were written, by table.
     */
    tables: {
        [key: string]: {
            files: number;
            rows: number;
            bytes: number;
        };
    };
    /**
     * The number of failed attempts.
     */
    failures: number;
    /**
     * The error of the last failed attempt.
     */
    error: string | null;
    next_attempt_at: string | null;
    /**
     * The path of the manifest, which is written last; null until then.
     */
    manifest: string | null;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
};

export type WarehouseRunResult = {
    status: 'success';
    run: WarehouseRun;
    warnings?: Array<string>;
};

export type WarehouseRunsPage = {
    status: 'success';
    runs: Array<WarehouseRun>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type WebAnswer = {
    intervals: Array<string>;
    totals: WebTotals;
    points: WebPoints;
    lists: WebLists;
    more: WebMore;
    /**
     * The goals, in the order that was sent.
     */
    goals: Array<WebGoal>;
    /**
     * Page views without a session, which are in no other figure.
     */
    outside_visits: number;
    /**
     * The part of the people from which the answer is estimated. Absent: everybody counts.
     */
    sample?: number;
    compare?: ComparedWeb;
};

export type WebGoal = {
    /**
     * The `label` that was sent, or the names of the events.
     */
    label: string;
    /**
     * Who did it.
     */
    people: number;
    /**
     * How often it was done.
     */
    events: number;
    /**
     * The part of the people of `totals`; null of nobody.
     */
    rate: number | null;
};

/**
 * The rows of the most people first; of equals, by value, and null last.
 */
export type WebLists = {
    /**
     * The hosts that referred to the first page of visits; null: none did.
     */
    source?: Array<WebRow>;
    /**
     * Of the first page of visits. Visits without a value have no row.
     */
    utm_source?: Array<WebRow>;
    /**
     * Of the first page of visits. Visits without a value have no row.
     */
    utm_medium?: Array<WebRow>;
    /**
     * Of the first page of visits. Visits without a value have no row.
     */
    utm_campaign?: Array<WebRow>;
    /**
     * Of the first page of visits. Visits without a value have no row.
     */
    utm_content?: Array<WebRow>;
    /**
     * Of the first page of visits. Visits without a value have no row.
     */
    utm_term?: Array<WebRow>;
    /**
     * The URL paths that were viewed. `page_views` are those of the page, and `visits` those that viewed it.
     */
    page?: Array<WebRow>;
    /**
     * The URL paths with which visits begin.
     */
    entry_page?: Array<WebRow>;
    /**
     * The URL paths with which visits end.
     */
    exit_page?: Array<WebRow>;
    /**
     * Of the first page of visits.
     */
    country?: Array<WebRow>;
    /**
     * Of the first page of visits. Visits without a value have no row.
     */
    region?: Array<WebRow>;
    /**
     * Of the first page of visits. Visits without a value have no row.
     */
    city?: Array<WebRowOfCity>;
    /**
     * Of the first page of visits.
     */
    browser?: Array<WebRow>;
    /**
     * Of the first page of visits.
     */
    os?: Array<WebRow>;
    /**
     * Of the first page of visits.
     */
    device_type?: Array<WebRow>;
};

/**
 * How many further values each list has.
 */
export type WebMore = {
    source?: number;
    utm_source?: number;
    utm_medium?: number;
    utm_campaign?: number;
    utm_content?: number;
    utm_term?: number;
    page?: number;
    entry_page?: number;
    exit_page?: number;
    country?: number;
    region?: number;
    city?: number;
    browser?: number;
    os?: number;
    device_type?: number;
};

/**
 * One figure for each interval, of the visits that begin in it.
 */
export type WebPoints = {
    people: Array<number>;
    visits: Array<number>;
    page_views: Array<number>;
    /**
     * The part of visits with a single page view, from 0 to 1; null of none.
     */
    bounce_rate: Array<number | null>;
    /**
     * The average time from the first page view of a visit to its last one, or until that page was left; null of none.
     */
    visit_seconds: Array<number | null>;
};

export type WebRow = {
    /**
     * null: of visits without a value.
     */
    value: string | null;
    /**
     * Different people: contacts, and visitors whom nobody knows.
     */
    people: number;
    /**
     * Visits with a page view. A visit is one person's session.
     */
    visits: number;
    /**
     * Page views in visits.
     */
    page_views: number;
    /**
     * The part of visits with a single page view, from 0 to 1; null of none.
     */
    bounce_rate: number | null;
    /**
     * The average time from the first page view of a visit to its last one, or until that page was left; null of none.
     */
    visit_seconds: number | null;
};

export type WebRowName = {
    /**
     * A list of the answer.
     */
    list: 'source' | 'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_content' | 'utm_term' | 'page' | 'entry_page' | 'exit_page' | 'country' | 'region' | 'city' | 'browser' | 'os' | 'device_type';
    /**
     * A value of the list; null: without one.
     */
    value: string | null;
};

export type WebRowOfCity = {
    /**
     * null: of visits without a value.
     */
    value: string | null;
    /**
     * Different people: contacts, and visitors whom nobody knows.
     */
    people: number;
    /**
     * Visits with a page view. A visit is one person's session.
     */
    visits: number;
    /**
     * Page views in visits.
     */
    page_views: number;
    /**
     * The part of visits with a single page view, from 0 to 1; null of none.
     */
    bounce_rate: number | null;
    /**
     * The average time from the first page view of a visit to its last one, or until that page was left; null of none.
     */
    visit_seconds: number | null;
};

export type WebTotals = {
    /**
     * Different people: contacts, and visitors whom nobody knows.
     */
    people: number;
    /**
     * Visits with a page view. A visit is one person's session.
     */
    visits: number;
    /**
     * Page views in visits.
     */
    page_views: number;
    /**
     * The part of visits with a single page view, from 0 to 1; null of none.
     */
    bounce_rate: number | null;
    /**
     * The average time from the first page view of a visit to its last one, or until that page was left; null of none.
     */
    visit_seconds: number | null;
    /**
     * null of no visits.
     */
    views_per_visit: number | null;
};

export type Webhook = {
    subscription_id: string;
    event: string;
    /**
     * With the format `slack`, the URL is stored encrypted and only its beginning is returned, because anyone who knows it can post to the channel.
     */
    url: string;
    /**
     * `json`: the whole event. `slack`: a message for an incoming webhook of Slack, or of Mattermost, Rocket.Chat or Discord (its URL with /slack at the end).
     */
    format: 'json' | 'slack';
    /**
     * The text of a message; null: the default text for the event, or the format `json`.
     */
    template: string | null;
    url_filter: UrlFilter | null;
    /**
     * Conditions on the event, all of which must be true for a delivery.
     */
    where: Array<PropertyCondition | NestedFilter> | null;
    /**
     * The only segment whose entries or exits are delivered; null: of every segment.
     */
    segment_id: string | null;
    /**
     * Names of the custom headers. Their values are never returned.
     */
    header_names: Array<string>;
    status: 'active' | 'paused';
    /**
     * Until then, the secret before the latest rotation also signs.
     */
    previous_secret_until: string | null;
    created_at: string;
    updated_at: string;
};

export type WebhookDeliveriesPage = {
    status: 'success';
    deliveries: Array<WebhookDelivery>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type WebhookDelivery = {
    delivery_id: string;
    subscription_id: string;
    event_id: string;
    event: string;
    is_test: boolean;
    status: 'pending' | 'succeeded' | 'failed';
    attempt_count: number;
    /**
     * null once it is finished.
     */
    next_attempt_at: string | null;
    created_at: string;
    finished_at: string | null;
    /**
     * The body that every attempt sends; null before the first one.
     */
    payload: string | null;
    attempts: Array<{
        attempt: number;
        at: string;
        latency_ms: number;
        /**
         * null: no response arrived.
         */
        status_code: number | null;
        /**
         * The beginning of the receiver's response.
         */
        body: string | null;
        error: string | null;
        /**
         * The IP address that was called.
         */
        address: string | null;
    }>;
};

export type WebhookDeliveryResult = {
    status: 'success';
    delivery: WebhookDelivery;
    warnings?: Array<string>;
};

export type WebhookEventType = {
    event: string;
    summary: string;
    /**
     * Recorded by the service itself.
     */
    is_system: boolean;
    /**
     * An example of a delivery's body.
     */
    sample: unknown;
};

export type WebhookHeader = {
    name: string;
    value: string;
};

export type WebhookHealth = {
    subscription_id: string;
    /**
     * Deliveries that wait for their first or next attempt.
     */
    pending: number;
    /**
     * Delivered in the last 24 hours.
     */
    succeeded: number;
    /**
     * Failed for good in the last 24 hours.
     */
    failed: number;
    /**
     * The number of recently attempted deliveries, at most 10.
     */
    latest: number;
    /**
     * How many of these failed in their latest attempt.
     */
    latest_failed: number;
    /**
     * Whether the most recent attempts all failed.
     */
    is_failing: boolean;
    last_success_at: string | null;
    last_failure_at: string | null;
};

export type WebhookHealthPage = {
    status: 'success';
    health: Array<WebhookHealth>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type WebhookHealthResult = {
    status: 'success';
    health: WebhookHealth;
    warnings?: Array<string>;
};

export type WebhookResult = {
    status: 'success';
    webhook: Webhook;
    warnings?: Array<string>;
};

export type WebhooksPage = {
    status: 'success';
    webhooks: Array<Webhook>;
    pagination: Pagination;
    warnings?: Array<string>;
};

export type WriteBack = {
    properties: Array<WriteBackProperty>;
    /**
     * Whether contacts that do not exist in the system are created there.
     */
    create_missing: boolean;
    /**
     * Changed contacts that have not been written yet.
     */
    waiting: number;
    /**
     * Why the last write failed. It is retried.
     */
    error: string | null;
};

export type WriteBackProperty = {
    /**
     * The property here.
     */
    property: string;
    /**
     * The connected system's name of the field, as its API calls it.
     */
    target: string;
    /**
     * Which value wins if the values differ. `ours`: the value here is written, and changes in the system do not replace it. `theirs`: the value in the system stays, and only blank fields there are filled. `newest`: the later change wins.
     */
    conflict: 'ours' | 'theirs' | 'newest';
};

export type WriteContactsBackResult = {
    status: 'success';
    /**
     * In the order of the request.
     */
    contacts: Array<RequestedContact>;
    warnings?: Array<string>;
};

export type AddDomainInput = {
    domain: string;
};

export type AddSuppressionInput = {
    address: string;
    /**
     * A note on the reason.
     */
    details?: string;
};

export type AggregateInput = AggregationOfContacts | AggregationOfCompanies | AggregationOfEvents;

export type ApproveActionInput = {
    /**
     * The run.
     */
    run_id: string;
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The position of the action among those of its contact, from 0.
     */
    action_index: string;
    /**
     * Edited params that replace the proposed ones. The type of the action determines the fields.
     */
    params?: {
        [key: string]: unknown;
    };
    /**
     * Executes it this many seconds later at the earliest. Until then the approval can be undone.
     */
    hold_seconds?: number;
};

export type ApproveActionsInput = {
    actions: Array<ActionPlace>;
    /**
     * Executes it this many seconds later at the earliest. Until then the approval can be undone.
     */
    hold_seconds?: number;
};

export type AskInput = {
    question: string;
};

export type BatchActivityInput = {
    /**
     * Unknown contacts are omitted.
     */
    contact_ids: Array<string>;
    /**
     * Maximum number of events per contact.
     */
    events_limit?: number;
    /**
     * At or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * system: includes system events, such as contact_created.
     */
    include?: 'system';
};

export type BatchDetailsInput = {
    entity_type: 'contacts' | 'companies';
    /**
     * Unknown ids are omitted; a repeated id is returned once.
     */
    ids: Array<string>;
};

export type BatchEngagementInput = {
    /**
     * Unknown contacts are omitted.
     */
    contact_ids: Array<string>;
};

export type CancelEnrichmentRunInput = {
    /**
     * The enrichment run.
     */
    enrichment_run_id: string;
};

export type CancelImportInput = {
    /**
     * The import.
     */
    import_id: string;
};

export type CancelRunInput = {
    /**
     * The run.
     */
    run_id: string;
};

export type ChangeCompaniesInput = {
    company_ids?: Array<string>;
    /**
     * The companies, instead of `company_ids`; `{}` means all.
     */
    matching?: {
        /**
         * Words, as in the list.
         */
        search?: string;
        segment_id?: string;
        filter?: SegmentFilter;
    };
    /**
     * Properties as in PUT /v1/companies/:company_id.
     */
    set?: {
        /**
         * Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.
         */
        properties: {
            [key: string]: unknown;
        };
    };
    /**
     * With `matching`: `next` of the previous response.
     */
    after?: string;
    /**
     * Deletes the records. Instead of `set`.
     */
    delete?: true;
};

export type ChangeContactsInput = {
    contact_ids?: Array<string>;
    /**
     * The contacts, instead of `contact_ids`; `{}` means all.
     */
    matching?: {
        /**
         * Words, as in the list.
         */
        search?: string;
        segment_id?: string;
        import_id?: string;
        company_id?: string;
        filter?: SegmentFilter;
    };
    /**
     * As the body of PUT /v1/contacts/:contact_id.
     */
    set?: {
        /**
         * Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.
         */
        properties?: {
            [key: string]: unknown;
        };
        /**
         * Company to associate; null for none.
         */
        company_id?: string | null;
    };
    /**
     * With `matching`: `next` of the previous response.
     */
    after?: string;
    /**
     * Deletes the records. Instead of `set`.
     */
    delete?: true;
};

export type CheckEmailAccountInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type CheckPlaybookInput = {
    playbook_md: string;
    /**
     * A template whose variables are known too.
     */
    playbook_template?: string;
    /**
     * The names of the playbook's own variables.
     */
    variables?: Array<string>;
};

export type CloseTenantInput = {
    /**
     * The name of the tenant, to confirm.
     */
    confirm: string;
    /**
     * Whether to delete everything at once.
     */
    now?: boolean;
};

export type CompleteAuthorizationInput = {
    state: string;
    /**
     * The authorization code.
     */
    code?: string;
    /**
     * The issuer, if the provider sent one.
     */
    iss?: string;
    /**
     * The error, if the provider sent one instead of a code.
     */
    error?: string;
    /**
     * The description of the error.
     */
    error_description?: string;
};

export type CreateAgentInput = {
    name: string;
    description?: string | null;
    playbook_template?: string | null;
    playbook?: AgentPlaybook;
    capabilities?: Array<'email' | 'linkedin' | 'social' | 'notes' | 'crm_sync'>;
    identity_id?: string | null;
    monitoring?: AgentMonitoring;
    llm_config?: AgentModel;
    goal?: AgentGoal | null;
    /**
     * Whether its schedule and its triggers run and actions can be proposed for it. Default false.
     */
    enabled?: boolean;
};

export type CreateAlertInput = {
    name: string;
    /**
     * The report whose number is watched.
     */
    report_id: string;
    /**
     * Which number. trend: `{"series": "A"}`, in the newest complete interval, or with `"running": true` in the one that is not over yet; `{}` if the question has a formula. funnel: `{"step": 2, "figure": "from_first"}`, where figure is count, from_first or from_previous. retention: `{"interval": 1}`, the average of that interval.
     */
    at: {
        [key: string]: unknown;
    };
    condition: AlertCondition;
    /**
     * How often it is checked. Default: day.
     */
    check_every?: 'hour' | 'day';
    /**
     * The ids of members who get a mail. Without any, only the event `alert_triggered` is recorded.
     */
    mail_to?: Array<string>;
    enabled?: boolean;
};

export type CreateApiKeyInput = {
    name: string;
    /**
     * Any of your own scopes, or `all` for all of them.
     */
    scopes: Array<string>;
    /**
     * When the key expires. Default: never. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    expires_at?: string;
    /**
     * Whether personal data is hidden from AI agents that use the key over MCP. `true`: hide it, and let the key work only at /mcp. `false`: show it. Default: hide it over MCP, and let the key use the API, which shows personal data.
     */
    redact_personal_data?: boolean;
    /**
     * The tools that it may use over MCP: their names, `all` for every tool that the scopes allow, or an empty list for none.
     */
    tools?: Array<string>;
};

export type CreateCompanyInput = {
    domain?: string;
    name?: string;
    /**
     * Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.
     */
    properties?: {
        [key: string]: unknown;
    };
};

export type CreateComputedPropertyInput = {
    /**
     * The key of the property. No record may have a property of this name yet. It cannot be changed.
     */
    name: string;
    /**
     * What gets the property. It cannot be changed.
     */
    entity: 'contacts' | 'companies';
    /**
     * What is computed of the events. `first`, `last` and `most_frequent` are values of `property`; of values that are equally frequent, the latest.
     */
    function?: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'distinct' | 'first' | 'last' | 'most_frequent';
    /**
     * The name of the events.
     */
    event?: string;
    /**
     * Conditions on each event alone; all must be true.
     */
    where?: Array<PropertyCondition | NestedFilter>;
    /**
     * The property of the events that is computed, such as `data.amount`; for every function but `count`, which has none.
     */
    property?: string | null;
    /**
     * Only events of the latest days count, each of 24 hours.
     */
    within_days?: number | null;
    /**
     * In place of a function: the value is the sum of the points of the filters that match.
     */
    score?: Array<ScoreRule>;
};

export type CreateConnectionInput = {
    connector: string;
    /**
     * The name under which it writes. Default: the connector's name.
     */
    source?: string;
    /**
     * The connector's secret fields. They are stored encrypted and never returned.
     */
    credentials: {
        [key: string]: string;
    };
    /**
     * The connector's other fields, such as a region.
     */
    settings?: {
        [key: string]: unknown;
    };
    /**
     * Read only changes since this time. Default: everything. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    read_since?: string;
};

export type CreateContactInput = {
    email: string;
    /**
     * Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.
     */
    properties?: {
        [key: string]: unknown;
    };
    /**
     * Visitor id or ids from the tracker: their events belong to this contact.
     */
    visitor_id?: string | Array<string>;
    company_id?: string;
};

export type CreateDashboardInput = {
    name: string;
    tiles?: Array<Tile>;
    /**
     * In place of the ranges of its reports; null for none.
     */
    range?: DashboardRange | null;
    /**
     * Conditions on every event, besides those of its reports; all must be true.
     */
    where?: Array<unknown>;
};

export type CreateEnrichmentProviderInput = {
    name: string;
    /**
     * `hunter` and `people_data_labs` need only the secret `api_key`; `http` needs `url` and `mapping`.
     */
    kind: 'http' | 'hunter' | 'people_data_labs';
    /**
     * Whether it is asked.
     */
    enabled?: boolean;
    /**
     * Kind `http` only: an https:// URL on the public internet, which is requested with GET. Behind the host, it can have variables: `{{contact.email}}`, `{{contact.email_domain}}`, `{{contact.PROPERTY}}`, `{{company.name}}`, `{{company.domain}}`, `{{company.PROPERTY}}`, `{{secrets.NAME}}`. A contact without one of the values is not asked about; `{{contact.lastname |}}` may be missing.
     */
    url?: string;
    /**
     * Kind `http` only: the headers of the request, with the same variables.
     */
    headers?: Array<EnrichmentHeaderInput>;
    mapping?: AnswerMapping;
    /**
     * What it may fill, of what its mapping has: properties of the contact, `company_id`, `company.name`, `company.<property>`. null: all.
     */
    fills?: Array<string> | null;
    /**
     * Secrets for the request, by name; `api_key` for the other kinds. They are stored encrypted and never shown. null removes one. When the URL gets another host, send them again.
     */
    secrets?: {
        [key: string]: string | null;
    };
    /**
     * The most requests in a calendar month, by the clock of the workspace. null for no limit.
     */
    monthly_budget?: number | null;
    /**
     * Default: that of the kind, which keeps to the provider's limit.
     */
    requests_per_minute?: number;
    /**
     * How long an answer serves the same question again, without a request. Default: 90.
     */
    cache_days?: number;
};

export type CreateHookInput = {
    name: string;
    kind: 'custom' | 'stripe' | 'calendly' | 'typeform' | 'cal.com';
    /**
     * The name of the source that it writes as. Default: derived from the name, such as `stripe`.
     */
    source?: string;
    /**
     * The secret with which the sender signs bodies. It is stored encrypted and never shown. A hook of a ready-made kind accepts bodies only once it has a secret.
     */
    signing_secret?: string;
    /**
     * Kind `custom` only: the header that contains the HMAC-SHA256 of the body, as hexadecimal digits or base64, with or without the prefix `sha256=`.
     */
    signature_header?: string;
    mapping?: HookMapping;
    /**
     * Default: true, or false while a required secret is missing.
     */
    enabled?: boolean;
};

export type CreateIdentityInput = {
    firstName: string;
    lastName: string;
    role: string;
};

export type CreateInvitationInput = {
    email: string;
    role: 'owner' | 'admin' | 'member' | 'viewer';
};

export type CreateNoteInput = {
    /**
     * The contact.
     */
    contact_id: string;
    content: string;
};

export type CreateReportInput = {
    name: string;
    /**
     * The kind of question.
     */
    kind: 'trend' | 'funnel' | 'retention' | 'paths' | 'web';
    /**
     * The question, with the fields of the operation of its kind.
     */
    question: {
        [key: string]: unknown;
    };
};

export type CreateSegmentInput = {
    name: string;
    description?: string | null;
    /**
     * What the filter selects; `contacts` by default.
     */
    entity?: 'contacts' | 'companies';
    filter: SegmentFilter;
};

export type CreateSourceInput = {
    name: string;
    type: 'browser' | 'server';
};

export type CreateViewInput = {
    name: string;
    page: 'contacts' | 'companies' | 'events';
    query: {
        [key: string]: string | number | boolean | Array<string>;
    };
    columns: Array<string>;
};

export type CreateWarehouseDestinationInput = {
    name: string;
    type: 'folder' | 's3';
    /**
     * The folder of the files.
     */
    prefix?: string;
    /**
     * The URL of the storage, without the bucket.
     */
    endpoint?: string;
    /**
     * Default: us-east-1.
     */
    region?: string;
    bucket?: string;
    access_key_id?: string;
    secret_access_key?: string;
    schedule?: string | null;
    /**
     * The time zone of the schedule. Default: UTC.
     */
    time_zone?: string;
};

export type CreateWebhookInput = {
    event: string;
    /**
     * An https:// URL on the public internet.
     */
    url: string;
    url_filter?: UrlFilter;
    /**
     * Conditions on the event, as those in the where of an event condition; all must be true for a delivery.
     */
    where?: Array<unknown>;
    /**
     * With `segment_entered` or `segment_exited`: deliver only those of this segment. Default: of every segment.
     */
    segment_id?: string;
    /**
     * Sent with each delivery. At most 20.
     */
    headers?: Array<WebhookHeader>;
    /**
     * `json`: the whole event. `slack`: a message for an incoming webhook of Slack, or of Mattermost, Rocket.Chat or Discord (its URL with /slack at the end).
     */
    format?: 'json' | 'slack';
    template?: string | null;
};

export type DeleteAgentInput = {
    /**
     * The agent.
     */
    agent_id: string;
};

export type DeleteAlertInput = {
    /**
     * The alert.
     */
    alert_id: string;
};

export type DeleteCompanyInput = {
    /**
     * The company.
     */
    company_id: string;
};

export type DeleteComputedPropertyInput = {
    /**
     * The computed property.
     */
    computed_property_id: string;
};

export type DeleteConnectionInput = {
    /**
     * The connection.
     */
    connection_id: string;
};

export type DeleteContactInput = {
    /**
     * The contact.
     */
    contact_id: string;
};

export type DeleteDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
};

export type DeleteEnrichmentProviderInput = {
    /**
     * The enrichment provider.
     */
    provider_id: string;
};

export type DeleteHookInput = {
    /**
     * The hook.
     */
    hook_id: string;
};

export type DeleteIdentityInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type DeleteInvitationInput = {
    /**
     * The invitation.
     */
    invitation_id: string;
};

export type DeleteNoteInput = {
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The note.
     */
    note_id: string;
};

export type DeleteOAuthClientInput = {
    /**
     * The provider, such as google.
     */
    provider: string;
};

export type DeleteReportInput = {
    /**
     * The report.
     */
    report_id: string;
};

export type DeleteSegmentInput = {
    /**
     * The segment.
     */
    segment_id: string;
};

export type DeleteSourceInput = {
    /**
     * The source.
     */
    source_id: string;
};

export type DeleteViewInput = {
    /**
     * The saved view.
     */
    view_id: string;
};

export type DeleteWarehouseDestinationInput = {
    /**
     * The export destination.
     */
    destination_id: string;
};

export type DeleteWebhookInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
};

export type DismissDuplicateInput = {
    /**
     * The duplicate.
     */
    duplicate_id: string;
};

export type DownloadExportInput = {
    /**
     * The export.
     */
    export_id: string;
};

export type DownloadFailedRowsInput = {
    /**
     * The import.
     */
    import_id: string;
};

export type DryRunAgentInput = {
    name: string;
    description?: string | null;
    playbook_template?: string | null;
    playbook?: AgentPlaybook;
    capabilities?: Array<'email' | 'linkedin' | 'social' | 'notes' | 'crm_sync'>;
    identity_id?: string | null;
    monitoring?: AgentMonitoring;
    llm_config?: AgentModel;
    goal?: AgentGoal | null;
    /**
     * Whether its schedule and its triggers run and actions can be proposed for it. Default false.
     */
    enabled?: boolean;
    /**
     * The contacts to evaluate; without them, the first of the audience.
     */
    contact_ids?: Array<string>;
};

export type EnrichContactInput = {
    /**
     * The contact.
     */
    contact_id: string;
};

export type EraseContactInput = {
    contact_id: string;
};

export type ExportCompaniesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Exact name.
     */
    name?: string;
    /**
     * Exact domain.
     */
    domain?: string;
    /**
     * Exact industry.
     */
    industry?: string;
    /**
     * Exact country.
     */
    country?: string;
    /**
     * Exact state.
     */
    state?: string;
    /**
     * Minimum number of employees.
     */
    min_employees?: number;
    /**
     * Maximum number of employees.
     */
    max_employees?: number;
    /**
     * Created at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_after?: string;
    /**
     * Created at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_before?: string;
    /**
     * Words that must all occur in the name or domain. At most 10 words.
     */
    search?: string;
    /**
     * Only companies with one of these ids. A comma-separated list of at most 100.
     */
    company_ids?: string;
    /**
     * A filter of segments as JSON. Its conditions are about the company, and the events of its contacts together.
     */
    filter?: string;
    /**
     * Members of this segment of companies.
     */
    segment_id?: string;
    /**
     * The field to sort by.
     */
    sort_by?: 'name' | 'createdate';
    /**
     * A property of companies to sort by, such as a computed one, in place of `sort_by`. Numbers come after texts.
     */
    sort_property?: string;
    /**
     * Sort direction; missing values come last in both directions.
     */
    sort_dir?: 'asc' | 'desc';
    /**
     * Return only the number of results.
     */
    count_only?: boolean;
    /**
     * A comma-separated list of columns: fields, and keys of properties or data.
     */
    columns?: string;
};

export type ExportContactsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Whether an enrichment source has written to the contact.
     */
    status?: 'enriched' | 'not_enriched';
    /**
     * Lifecycle stage.
     */
    lifecycle_stage?: 'lead' | 'prospect' | 'mql' | 'sql' | 'opportunity' | 'customer' | 'evangelist' | 'subscriber' | 'other';
    /**
     * Exact lead status.
     */
    lead_status?: string;
    /**
     * Exact industry.
     */
    industry?: string;
    /**
     * Exact country.
     */
    country?: string;
    /**
     * Exact state.
     */
    state?: string;
    /**
     * Exact city.
     */
    city?: string;
    /**
     * Part of the job title, ignoring case.
     */
    job_title?: string;
    /**
     * Contacts with or without a social-network profile.
     */
    has_linkedin?: boolean;
    /**
     * The same as has_linkedin.
     */
    has_social_profile?: boolean;
    /**
     * Associated company.
     */
    company_id?: string;
    /**
     * Created at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_after?: string;
    /**
     * Created at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_before?: string;
    /**
     * Words that must all occur in the name, email, company or job title. At most 10 words.
     */
    search?: string;
    /**
     * Only contacts with one of these ids. A comma-separated list of at most 100.
     */
    contact_ids?: string;
    /**
     * Members of this segment.
     */
    segment_id?: string;
    /**
     * Contacts that this import created or updated.
     */
    import_id?: string;
    /**
     * A filter of segments as JSON. With event conditions, it needs the scope `events:read`.
     */
    filter?: string;
    /**
     * Contacts with a tracked event of this type.
     */
    has_event_type?: string;
    /**
     * Contacts with an event whose element text equals this.
     */
    has_event_text?: string;
    /**
     * Contacts with an event whose element text contains this, ignoring case.
     */
    has_event_text_contains?: string;
    /**
     * Contacts with an event whose URL contains this, ignoring case.
     */
    has_event_url_contains?: string;
    /**
     * Contacts with an event whose element's CSS class contains this, ignoring case.
     */
    has_event_class_contains?: string;
    /**
     * Contacts with an event on the element with this id.
     */
    has_event_element_id?: string;
    /**
     * The matching event happened at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    has_event_after?: string;
    /**
     * The matching event happened at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    has_event_before?: string;
    /**
     * The field to sort by.
     */
    sort_by?: 'email' | 'firstname' | 'lastname' | 'company' | 'createdate';
    /**
     * A property of contacts to sort by, such as a computed one, in place of `sort_by`. Numbers come after texts.
     */
    sort_property?: string;
    /**
     * Sort direction; missing values come last in both directions.
     */
    sort_dir?: 'asc' | 'desc';
    /**
     * Return only the number of results.
     */
    count_only?: boolean;
    /**
     * summary, full, or a comma-separated list of field names and property keys.
     */
    fields?: string;
    /**
     * What to add. Comma-separated list of: provenance, scores.
     */
    include?: string;
    /**
     * A comma-separated list of columns: fields, and keys of properties or data.
     */
    columns?: string;
};

export type ExportEventsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Exact event name.
     */
    event_type?: string;
    /**
     * Events of this contact.
     */
    contact_id?: string;
    /**
     * Events of this company's contacts, of the newest 1,000 if it has more.
     */
    company_id?: string;
    /**
     * Events of this visitor.
     */
    visitor_id?: string;
    /**
     * Events of this session.
     */
    session_id?: string;
    /**
     * Events with this exact user id of another analytics tool.
     */
    analytics_user_id?: string;
    /**
     * Exact host of the URL.
     */
    domain?: string;
    /**
     * Exact URL.
     */
    url?: string;
    /**
     * Exact path of the URL.
     */
    url_path?: string;
    /**
     * Part of the URL, ignoring case.
     */
    url_contains?: string;
    /**
     * Exact page title.
     */
    title?: string;
    /**
     * Part of the page title, ignoring case.
     */
    title_contains?: string;
    /**
     * Exact text of the element.
     */
    text?: string;
    /**
     * Part of the element's text, ignoring case.
     */
    text_contains?: string;
    /**
     * Exact type of the element, such as button.
     */
    element_type?: string;
    /**
     * Exact id of the element.
     */
    element_id?: string;
    /**
     * Part of the element's class, ignoring case.
     */
    class_contains?: string;
    /**
     * Exact host of the referrer, without www.
     */
    referring_domain?: string;
    /**
     * Exact utm_source of the URL.
     */
    utm_source?: string;
    /**
     * Exact utm_medium of the URL.
     */
    utm_medium?: string;
    /**
     * Exact utm_campaign of the URL.
     */
    utm_campaign?: string;
    /**
     * Exact utm_term of the URL.
     */
    utm_term?: string;
    /**
     * Exact utm_content of the URL.
     */
    utm_content?: string;
    /**
     * Exact country of the sender, such as DE.
     */
    country?: string;
    /**
     * Exact region of the sender.
     */
    region?: string;
    /**
     * Exact city of the sender.
     */
    city?: string;
    /**
     * Exact device type, such as desktop.
     */
    device_type?: string;
    /**
     * Exact browser name, such as Chrome.
     */
    browser?: string;
    /**
     * Exact name of the operating system, such as macOS.
     */
    os?: string;
    /**
     * Whether the sender identifies itself as a bot.
     */
    is_bot?: boolean;
    /**
     * Whether the URL's host differs from the host of the page that sent the event.
     */
    origin_mismatch?: boolean;
    /**
     * Only events of a known contact.
     */
    identified_only?: boolean;
    /**
     * At or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * Received by the service at or after this time, whenever it happened. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_after?: string;
    /**
     * Words that must all occur in the event name, URL or domain. At most 10 words.
     */
    search?: string;
    /**
     * A filter of segments as JSON. Its conditions are on the event, as those in the where of an event condition.
     */
    filter?: string;
    /**
     * The field to sort by.
     */
    sort_by?: 'timestamp' | 'event' | 'createdAt';
    /**
     * Direction.
     */
    sort_dir?: 'asc' | 'desc';
    /**
     * Return only the number of results.
     */
    count_only?: boolean;
    /**
     * summary: compact events without contact and company.
     */
    fields?: 'summary' | 'full';
    /**
     * Adds system events, such as contact_created. Comma-separated list of: system.
     */
    include?: string;
    /**
     * A comma-separated list of columns: fields, and keys of properties or data.
     */
    columns?: string;
};

export type ExportReportInput = {
    /**
     * The report.
     */
    report_id: string;
};

export type GetActionInput = {
    /**
     * The run.
     */
    run_id: string;
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The position of the action among those of its contact, from 0.
     */
    action_index: string;
};

export type GetAgentInput = {
    /**
     * The agent.
     */
    agent_id: string;
};

export type GetAgentOutcomesInput = {
    /**
     * Actions proposed at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * Actions proposed at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The agent.
     */
    agent_id: string;
};

export type GetAgentRunInput = {
    /**
     * Only status and counts, or also the results of at most 25 contacts.
     */
    mode?: 'summary' | 'full';
    /**
     * The run.
     */
    run_id: string;
};

export type GetAlertInput = {
    /**
     * The alert.
     */
    alert_id: string;
};

export type GetApiKeyInput = {
    /**
     * The API key.
     */
    key_id: string;
};

export type GetAuditEntryInput = {
    /**
     * The audit entry.
     */
    entry_id: string;
};

export type GetCompanyInput = {
    /**
     * The company.
     */
    company_id: string;
};

export type GetCompanyEngagementInput = {
    /**
     * The company.
     */
    company_id: string;
};

export type GetComputedPropertyInput = {
    /**
     * The computed property.
     */
    computed_property_id: string;
};

export type GetConnectedAppInput = {
    /**
     * The connected app.
     */
    grant_id: string;
};

export type GetConnectionInput = {
    /**
     * The connection.
     */
    connection_id: string;
};

export type GetConnectorInput = {
    /**
     * The name of the connector, such as pipedrive.
     */
    connector: string;
};

export type GetContactInput = {
    /**
     * Whether to include the latest events.
     */
    include_events?: boolean;
    /**
     * Number of events, 1 to 50. Default 20.
     */
    events_limit?: string;
    /**
     * What to add. Comma-separated list of: provenance, raw, scores.
     */
    include?: string;
    /**
     * The contact.
     */
    contact_id: string;
};

export type GetContactEngagementInput = {
    /**
     * The contact.
     */
    contact_id: string;
};

export type GetContactEnrichmentInput = {
    /**
     * The contact.
     */
    contact_id: string;
};

export type GetConversationInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The conversation.
     */
    thread_id: string;
};

export type GetDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
};

export type GetDomainInput = {
    /**
     * The domain.
     */
    domain_id: string;
};

export type GetEmailAccountInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type GetEnrichmentProviderInput = {
    /**
     * The enrichment provider.
     */
    provider_id: string;
};

export type GetEnrichmentRunInput = {
    /**
     * The enrichment run.
     */
    enrichment_run_id: string;
};

export type GetErasureInput = {
    /**
     * The erasure.
     */
    erasure_id: string;
};

export type GetEventInput = {
    /**
     * The event.
     */
    event_id: string;
};

export type GetEventStatsInput = {
    /**
     * Exact event name.
     */
    event_type?: string;
    /**
     * Exact host of the URL.
     */
    domain?: string;
    /**
     * At or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * Only events of a known contact.
     */
    identified_only?: boolean;
    /**
     * Return only this list. Default: all three.
     */
    group_by?: 'type' | 'domain' | 'day';
    /**
     * Adds system events, such as contact_created. Comma-separated list of: system.
     */
    include?: string;
};

export type GetExportInput = {
    /**
     * The export.
     */
    export_id: string;
};

export type GetHookInput = {
    /**
     * The hook.
     */
    hook_id: string;
};

export type GetHookBodyInput = {
    /**
     * The hook.
     */
    hook_id: string;
    /**
     * The body.
     */
    body_id: string;
};

export type GetIdentityInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type GetIdentityConnectionsInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type GetImportInput = {
    /**
     * The import.
     */
    import_id: string;
};

export type GetImportPreviewInput = {
    /**
     * The import.
     */
    import_id: string;
};

export type GetInvitationInput = {
    /**
     * The invitation.
     */
    invitation_id: string;
};

export type GetMailboxInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type GetMemberInput = {
    /**
     * The member.
     */
    user_id: string;
};

export type GetNoteInput = {
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The note.
     */
    note_id: string;
};

export type GetOAuthClientInput = {
    /**
     * The provider, such as google.
     */
    provider: string;
};

export type GetOverviewInput = {
    /**
     * Start of the range. Default: 28 days before the end. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    from?: string;
    /**
     * End of the range. Default: now. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    to?: string;
};

export type GetPlaybookInput = {
    /**
     * The name of the template.
     */
    playbook: string;
};

export type GetPlaybookVersionInput = {
    /**
     * The agent.
     */
    agent_id: string;
    /**
     * The number of the version, from 1.
     */
    version: string;
};

export type GetPropertyInput = {
    /**
     * The kind of record that has the properties.
     */
    entity?: 'contacts' | 'companies' | 'events';
    /**
     * The name of the property.
     */
    property: string;
};

export type GetReportInput = {
    /**
     * The report.
     */
    report_id: string;
};

export type GetSegmentInput = {
    /**
     * The segment.
     */
    segment_id: string;
};

export type GetSegmentGrowthInput = {
    /**
     * Start of the range. Default: 28 days before the end. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    from?: string;
    /**
     * End of the range. Default: now. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    to?: string;
    /**
     * The segment.
     */
    segment_id: string;
};

export type GetSourceInput = {
    /**
     * The source.
     */
    source_id: string;
};

export type GetSuppressionInput = {
    /**
     * The email address.
     */
    address: string;
};

export type GetTimelineInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Events of this contact.
     */
    contact_id?: string;
    /**
     * Events of this company's contacts, of the newest 1,000 if it has more.
     */
    company_id?: string;
    /**
     * Events of this visitor.
     */
    visitor_id?: string;
    /**
     * Events of this session.
     */
    session_id?: string;
    /**
     * Only events of a known contact.
     */
    identified_only?: boolean;
    /**
     * Exact host of the URL.
     */
    domain?: string;
    /**
     * Exact country of the sender, such as DE.
     */
    country?: string;
    /**
     * Exact device type, such as desktop.
     */
    device_type?: string;
    /**
     * Exact browser name, such as Chrome.
     */
    browser?: string;
    /**
     * Exact name of the operating system, such as macOS.
     */
    os?: string;
    /**
     * Whether the sender identifies itself as a bot.
     */
    is_bot?: boolean;
    /**
     * At or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * Adds system events, such as contact_created. Comma-separated list of: system.
     */
    include?: string;
};

export type GetViewInput = {
    /**
     * The saved view.
     */
    view_id: string;
};

export type GetVisitorInput = {
    /**
     * The visitor, as its tracker or its sender named it.
     */
    visitor_id: string;
};

export type GetWarehouseDestinationInput = {
    /**
     * The export destination.
     */
    destination_id: string;
};

export type GetWarehouseRunInput = {
    /**
     * The warehouse run.
     */
    warehouse_run_id: string;
};

export type GetWebhookInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
};

export type GetWebhookDeliveryInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
    /**
     * The delivery.
     */
    delivery_id: string;
};

export type GetWebhookHealthInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
};

export type IdentifyInput = {
    /**
     * Visitor id or ids from the tracker: their events belong to this contact.
     */
    visitor_id?: string | Array<string>;
    /**
     * Your own system's id for this person.
     */
    user_id?: string;
    email?: string;
    /**
     * Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.
     */
    properties?: {
        [key: string]: unknown;
    };
};

export type InsightFunnelInput = {
    /**
     * The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.
     */
    date_from?: string;
    /**
     * The last moment, and with a date alone the whole day. Default: now.
     */
    date_to?: string;
    last?: LastUnits;
    /**
     * IANA time zone of days, weeks and months. Default: the workspace's.
     */
    time_zone?: string;
    /**
     * Conditions on every event of the question; all must be true.
     */
    where?: Array<unknown>;
    people?: SegmentFilter;
    /**
     * Whether to count events whose senders identify themselves as bots.
     */
    include_bots?: boolean;
    /**
     * Answers from this part of the people, for questions that are too expensive: 0.1 is a tenth. Counts and sums are scaled up, so they are estimates. It is always the same people. Numbers of a sample do not lead to their people.
     */
    sample?: number;
    /**
     * Answers the same question for another range too, in `compare`: the one before, or one between two dates.
     */
    compare?: 'previous_period' | ComparedRange;
    /**
     * What is done, one after another.
     */
    steps: Array<EventMeant>;
    window: FunnelWindow;
    /**
     * ordered: other events may be between two steps. strict: none may. any: the steps may be done in any order, and step k counts who did k of them. Default: ordered.
     */
    order?: 'ordered' | 'strict' | 'any';
    /**
     * sessions: the steps are done within one session, and sessions are counted. Default: people.
     */
    count_by?: 'people' | 'sessions';
    /**
     * Events that end an attempt: steps after them do not count for it.
     */
    exclude?: Array<EventMeant>;
    /**
     * One group for each value of these properties of the first event, such as country or data.plan, or of its contact or company, such as contact.plan or company.industry.
     */
    breakdown?: Array<string>;
    /**
     * How many values of the breakdown have a group of their own: the largest by the first step.
     */
    limit?: number;
};

export type InsightPathsInput = {
    /**
     * The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.
     */
    date_from?: string;
    /**
     * The last moment, and with a date alone the whole day. Default: now.
     */
    date_to?: string;
    last?: LastUnits;
    /**
     * IANA time zone of days, weeks and months. Default: the workspace's.
     */
    time_zone?: string;
    /**
     * Conditions on every event of the question; all must be true.
     */
    where?: Array<unknown>;
    people?: SegmentFilter;
    /**
     * Whether to count events whose senders identify themselves as bots.
     */
    include_bots?: boolean;
    /**
     * Answers from this part of the people, for questions that are too expensive: 0.1 is a tenth. Counts and sums are scaled up, so they are estimates. It is always the same people. Numbers of a sample do not lead to their people.
     */
    sample?: number;
    /**
     * Answers the same question for another range too, in `compare`: the one before, or one between two dates.
     */
    compare?: 'previous_period' | ComparedRange;
    /**
     * What a session's path consists of: the URL paths of its page views, or the names of its events. Neighbours that repeat count once. Events of the same time are in the order of their ids.
     */
    kind: 'pages' | 'events';
    /**
     * Paths begin where a session has this URL path or event first; others are left out.
     */
    from?: string;
    /**
     * Paths end where a session has this URL path or event last; others are left out. Not with `from`.
     */
    to?: string;
    /**
     * How many nodes of a path count. Default: 4.
     */
    depth?: number;
    /**
     * How many links are returned: the largest ones. Default: 50.
     */
    limit?: number;
};

export type InsightPeopleInput = {
    /**
     * The kind of question.
     */
    kind: 'trend' | 'funnel' | 'retention' | 'paths' | 'web';
    /**
     * The question, with the fields of the operation of its kind.
     */
    question: {
        [key: string]: unknown;
    };
    /**
     * Which number. trend: `{"series": "A", "interval": "2026-10-25", "breakdown": ["DE"]}`, where all but the series may be left out. funnel: `{"step": 2}`, with `"dropped": true` those who went no further, and `breakdown`. retention: `{"cohort": "2026-W43", "interval": 1}`, or the cohort alone. paths: `{"step": 1, "from": "/", "to": "/pricing"}` or `{"step": 1, "name": "/"}`. web: `{}` for all people, `{"interval": "2026-10-25"}`, `{"list": "source", "value": "google.com"}` or `{"goal": 1}`.
     */
    at: {
        [key: string]: unknown;
    };
};

export type InsightRetentionInput = {
    /**
     * The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.
     */
    date_from?: string;
    /**
     * The last moment, and with a date alone the whole day. Default: now.
     */
    date_to?: string;
    last?: LastUnits;
    /**
     * IANA time zone of days, weeks and months. Default: the workspace's.
     */
    time_zone?: string;
    /**
     * Conditions on every event of the question; all must be true.
     */
    where?: Array<unknown>;
    people?: SegmentFilter;
    /**
     * Whether to count events whose senders identify themselves as bots.
     */
    include_bots?: boolean;
    /**
     * Answers from this part of the people, for questions that are too expensive: 0.1 is a tenth. Counts and sums are scaled up, so they are estimates. It is always the same people. Numbers of a sample do not lead to their people.
     */
    sample?: number;
    /**
     * Answers the same question for another range too, in `compare`: the one before, or one between two dates.
     */
    compare?: 'previous_period' | ComparedRange;
    /**
     * What puts people into a cohort: an event, at its first time in the range, or first_seen: their first event of all lies in the range, whatever `where` says.
     */
    start: 'first_seen' | EventMeant;
    /**
     * What people come back for: an event, or any. Default: any.
     */
    return?: 'any' | EventMeant;
    /**
     * What a cohort covers. Default: day.
     */
    interval?: 'hour' | 'day' | 'week' | 'month';
    /**
     * If the range has more than 2400 intervals, the next longer one that fits takes the place of `interval`. The keys in the answer show which. By default, that is an error.
     */
    longer_interval?: boolean;
    /**
     * How many intervals after its own each cohort is followed, also beyond the range. Default: 7.
     */
    intervals?: number;
    /**
     * on: who came back in exactly that interval; on_or_after: in it or later, up to now. Default: on.
     */
    mode?: 'on' | 'on_or_after';
};

export type InsightTrendInput = {
    /**
     * The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.
     */
    date_from?: string;
    /**
     * The last moment, and with a date alone the whole day. Default: now.
     */
    date_to?: string;
    last?: LastUnits;
    /**
     * IANA time zone of days, weeks and months. Default: the workspace's.
     */
    time_zone?: string;
    /**
     * Conditions on every event of the question; all must be true.
     */
    where?: Array<unknown>;
    people?: SegmentFilter;
    /**
     * Whether to count events whose senders identify themselves as bots.
     */
    include_bots?: boolean;
    /**
     * Answers from this part of the people, for questions that are too expensive: 0.1 is a tenth. Counts and sums are scaled up, so they are estimates. It is always the same people. Numbers of a sample do not lead to their people.
     */
    sample?: number;
    /**
     * Answers the same question for another range too, in `compare`: the one before, or one between two dates.
     */
    compare?: 'previous_period' | ComparedRange;
    /**
     * What is counted: A, B, C …
     */
    series: Array<TrendSeries>;
    /**
     * One series computed from the others, which are named by letter.
     */
    formula?: string;
    /**
     * What a point covers. Default: day.
     */
    interval?: 'hour' | 'day' | 'week' | 'month';
    /**
     * If the range has more than 2400 intervals, the next longer one that fits takes the place of `interval`. The keys in the answer show which. By default, that is an error.
     */
    longer_interval?: boolean;
    /**
     * One series for each value of these properties of the events, such as country or data.plan, or of their contacts and companies as they are now, such as contact.plan or company.industry.
     */
    breakdown?: Array<string>;
    /**
     * How many values of the breakdown have a series of their own: the largest ones.
     */
    limit?: number;
};

export type InsightWebInput = {
    /**
     * The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.
     */
    date_from?: string;
    /**
     * The last moment, and with a date alone the whole day. Default: now.
     */
    date_to?: string;
    last?: LastUnits;
    /**
     * IANA time zone of days, weeks and months. Default: the workspace's.
     */
    time_zone?: string;
    /**
     * Conditions on every event of the question; all must be true.
     */
    where?: Array<unknown>;
    people?: SegmentFilter;
    /**
     * Whether to count events whose senders identify themselves as bots.
     */
    include_bots?: boolean;
    /**
     * Answers from this part of the people, for questions that are too expensive: 0.1 is a tenth. Counts and sums are scaled up, so they are estimates. It is always the same people. Numbers of a sample do not lead to their people.
     */
    sample?: number;
    /**
     * Answers the same question for another range too, in `compare`: the one before, or one between two dates.
     */
    compare?: 'previous_period' | ComparedRange;
    /**
     * What a point covers. Default: hour for at most 2 days, day for at most 92, month for more.
     */
    interval?: 'hour' | 'day' | 'week' | 'month';
    /**
     * If the range has more than 2400 intervals, the next longer one that fits takes the place of `interval`. The keys in the answer show which. By default, that is an error.
     */
    longer_interval?: boolean;
    /**
     * Only the visits that these rows of lists count, and all of their page views: `[{"list": "source", "value": "google.com"}]`.
     */
    visit?: Array<WebRowName>;
    /**
     * Events that visitors are meant to do.
     */
    goals?: Array<EventMeant>;
    /**
     * Which lists are returned. Default: all.
     */
    lists?: Array<'source' | 'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_content' | 'utm_term' | 'page' | 'entry_page' | 'exit_page' | 'country' | 'region' | 'city' | 'browser' | 'os' | 'device_type'>;
    /**
     * How many rows a list has: those of the most people.
     */
    limit?: number;
};

export type LinkedinCheckInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type LinkedinLoginInput = {
    /**
     * The identity.
     */
    identity_id: string;
    /**
     * Requires `password`.
     */
    username?: string;
    password?: string;
    /**
     * The country that the login should appear to come from: an ISO 3166-1 alpha-2 code.
     */
    country?: string;
    /**
     * Seconds from the login call after which the login fails.
     */
    max_verification_wait_time?: number;
};

export type LinkedinLoginCodeInput = {
    /**
     * The identity.
     */
    identity_id: string;
    /**
     * The login session.
     */
    session_id: string;
    code: string;
};

export type LinkedinLoginStatusInput = {
    /**
     * The identity.
     */
    identity_id: string;
    /**
     * The login session.
     */
    session_id: string;
};

export type ListActionsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Only actions with this status.
     */
    status?: 'pending_approval' | 'approved' | 'rejected' | 'executed' | 'failed';
    /**
     * Only actions for this contact.
     */
    contact_id?: string;
    /**
     * Only actions of this version of the playbook.
     */
    playbook_version?: number;
    /**
     * Only actions that the outcomes of the agent count as this.
     */
    outcome?: 'waiting' | 'approved' | 'auto_approved' | 'edited' | 'rejected' | 'stopped_by_guardrails' | 'failed' | 'sent';
    /**
     * Actions proposed at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * Actions proposed at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * The agent.
     */
    agent_id: string;
};

export type ListAgentRunsInput = {
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Number of records to skip.
     */
    offset?: number;
    /**
     * Only runs in this status.
     */
    status?: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
    /**
     * The agent.
     */
    agent_id: string;
};

export type ListAgentsInput = {
    /**
     * Only enabled agents, or only disabled ones.
     */
    enabled?: boolean;
    /**
     * Only agents with this playbook template.
     */
    playbook_template?: string;
    /**
     * What to add to each agent: its latest run.
     */
    include?: 'last_run';
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Number of records to skip.
     */
    offset?: number;
};

export type ListAlertsInput = {
    /**
     * Words that must all occur in the name. At most 10 words.
     */
    search?: string;
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListApiKeysInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListApprovalsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Only actions of this agent.
     */
    agent_id?: string;
    /**
     * Only actions for this contact.
     */
    contact_id?: string;
    /**
     * Only actions of this type.
     */
    type?: 'email_message' | 'social_message' | 'social_connect' | 'note' | 'crm_update';
};

export type ListAuditLogInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Only entries about subjects of this kind.
     */
    subject_kind?: string;
    /**
     * Only entries about this subject.
     */
    subject_id?: string;
    /**
     * Only entries of this actor: the id of a person, key or agent, or a kind of actor.
     */
    actor?: string;
};

export type ListCompaniesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Exact name.
     */
    name?: string;
    /**
     * Exact domain.
     */
    domain?: string;
    /**
     * Exact industry.
     */
    industry?: string;
    /**
     * Exact country.
     */
    country?: string;
    /**
     * Exact state.
     */
    state?: string;
    /**
     * Minimum number of employees.
     */
    min_employees?: number;
    /**
     * Maximum number of employees.
     */
    max_employees?: number;
    /**
     * Created at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_after?: string;
    /**
     * Created at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_before?: string;
    /**
     * Words that must all occur in the name or domain. At most 10 words.
     */
    search?: string;
    /**
     * Only companies with one of these ids. A comma-separated list of at most 100.
     */
    company_ids?: string;
    /**
     * A filter of segments as JSON. Its conditions are about the company, and the events of its contacts together.
     */
    filter?: string;
    /**
     * Members of this segment of companies.
     */
    segment_id?: string;
    /**
     * The field to sort by.
     */
    sort_by?: 'name' | 'createdate';
    /**
     * A property of companies to sort by, such as a computed one, in place of `sort_by`. Numbers come after texts.
     */
    sort_property?: string;
    /**
     * Sort direction; missing values come last in both directions.
     */
    sort_dir?: 'asc' | 'desc';
    /**
     * Return only the number of results.
     */
    count_only?: boolean;
};

export type ListCompanyContactsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The company.
     */
    company_id: string;
};

export type ListCompanyEventsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Exact event name.
     */
    event_type?: string;
    /**
     * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * The company.
     */
    company_id: string;
};

export type ListComputedPropertiesInput = {
    /**
     * Only those of contacts, or of companies.
     */
    entity?: 'contacts' | 'companies';
    /**
     * Words that must all occur in the name. At most 10 words.
     */
    search?: string;
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListConnectedAppsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListConnectionErrorsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The connection.
     */
    connection_id: string;
};

export type ListConnectionRunsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The connection.
     */
    connection_id: string;
};

export type ListConnectionsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListContactEventsInput = {
    /**
     * Exact event name.
     */
    event_type?: string;
    /**
     * Oldest or newest first.
     */
    sort_dir?: 'asc' | 'desc';
    /**
     * summary: compact events.
     */
    fields?: 'summary' | 'full';
    /**
     * system includes system events. provenance is accepted, but has no effect. Comma-separated list of: provenance, system.
     */
    include?: string;
    /**
     * The contact.
     */
    contact_id: string;
};

export type ListContactVisitorsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The contact.
     */
    contact_id: string;
};

export type ListContactsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Whether an enrichment source has written to the contact.
     */
    status?: 'enriched' | 'not_enriched';
    /**
     * Lifecycle stage.
     */
    lifecycle_stage?: 'lead' | 'prospect' | 'mql' | 'sql' | 'opportunity' | 'customer' | 'evangelist' | 'subscriber' | 'other';
    /**
     * Exact lead status.
     */
    lead_status?: string;
    /**
     * Exact industry.
     */
    industry?: string;
    /**
     * Exact country.
     */
    country?: string;
    /**
     * Exact state.
     */
    state?: string;
    /**
     * Exact city.
     */
    city?: string;
    /**
     * Part of the job title, ignoring case.
     */
    job_title?: string;
    /**
     * Contacts with or without a social-network profile.
     */
    has_linkedin?: boolean;
    /**
     * The same as has_linkedin.
     */
    has_social_profile?: boolean;
    /**
     * Associated company.
     */
    company_id?: string;
    /**
     * Created at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_after?: string;
    /**
     * Created at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_before?: string;
    /**
     * Words that must all occur in the name, email, company or job title. At most 10 words.
     */
    search?: string;
    /**
     * Only contacts with one of these ids. A comma-separated list of at most 100.
     */
    contact_ids?: string;
    /**
     * Members of this segment.
     */
    segment_id?: string;
    /**
     * Contacts that this import created or updated.
     */
    import_id?: string;
    /**
     * A filter of segments as JSON. With event conditions, it needs the scope `events:read`.
     */
    filter?: string;
    /**
     * Contacts with a tracked event of this type.
     */
    has_event_type?: string;
    /**
     * Contacts with an event whose element text equals this.
     */
    has_event_text?: string;
    /**
     * Contacts with an event whose element text contains this, ignoring case.
     */
    has_event_text_contains?: string;
    /**
     * Contacts with an event whose URL contains this, ignoring case.
     */
    has_event_url_contains?: string;
    /**
     * Contacts with an event whose element's CSS class contains this, ignoring case.
     */
    has_event_class_contains?: string;
    /**
     * Contacts with an event on the element with this id.
     */
    has_event_element_id?: string;
    /**
     * The matching event happened at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    has_event_after?: string;
    /**
     * The matching event happened at or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    has_event_before?: string;
    /**
     * The field to sort by.
     */
    sort_by?: 'email' | 'firstname' | 'lastname' | 'company' | 'createdate';
    /**
     * A property of contacts to sort by, such as a computed one, in place of `sort_by`. Numbers come after texts.
     */
    sort_property?: string;
    /**
     * Sort direction; missing values come last in both directions.
     */
    sort_dir?: 'asc' | 'desc';
    /**
     * Return only the number of results.
     */
    count_only?: boolean;
    /**
     * summary, full, or a comma-separated list of field names and property keys.
     */
    fields?: string;
    /**
     * What to add. Comma-separated list of: provenance, scores.
     */
    include?: string;
};

export type ListConversationsInput = {
    /**
     * Include the messages of the threads.
     */
    include_messages?: boolean;
    /**
     * Number of messages per thread, newest first. Requires include_messages=true.
     */
    messages_per_thread?: number;
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The contact.
     */
    contact_id: string;
};

export type ListDashboardsInput = {
    /**
     * Words that must all occur in the name. At most 10 words.
     */
    search?: string;
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListDomainsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Only verified domains, or only unverified ones.
     */
    verified?: boolean;
};

export type ListDuplicatesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Leaves out pairs with a lower confidence.
     */
    min_confidence?: number;
};

export type ListEmailThreadsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The contact.
     */
    contact_id: string;
};

export type ListEnrichmentProvidersInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListEnrichmentRunsInput = {
    /**
     * Only runs in this state.
     */
    state?: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'undoing' | 'undone';
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListErasuresInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListEventTypesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Adds system events, such as contact_created. Comma-separated list of: system.
     */
    include?: string;
};

export type ListEventsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Exact event name.
     */
    event_type?: string;
    /**
     * Events of this contact.
     */
    contact_id?: string;
    /**
     * Events of this company's contacts, of the newest 1,000 if it has more.
     */
    company_id?: string;
    /**
     * Events of this visitor.
     */
    visitor_id?: string;
    /**
     * Events of this session.
     */
    session_id?: string;
    /**
     * Events with this exact user id of another analytics tool.
     */
    analytics_user_id?: string;
    /**
     * Exact host of the URL.
     */
    domain?: string;
    /**
     * Exact URL.
     */
    url?: string;
    /**
     * Exact path of the URL.
     */
    url_path?: string;
    /**
     * Part of the URL, ignoring case.
     */
    url_contains?: string;
    /**
     * Exact page title.
     */
    title?: string;
    /**
     * Part of the page title, ignoring case.
     */
    title_contains?: string;
    /**
     * Exact text of the element.
     */
    text?: string;
    /**
     * Part of the element's text, ignoring case.
     */
    text_contains?: string;
    /**
     * Exact type of the element, such as button.
     */
    element_type?: string;
    /**
     * Exact id of the element.
     */
    element_id?: string;
    /**
     * Part of the element's class, ignoring case.
     */
    class_contains?: string;
    /**
     * Exact host of the referrer, without www.
     */
    referring_domain?: string;
    /**
     * Exact utm_source of the URL.
     */
    utm_source?: string;
    /**
     * Exact utm_medium of the URL.
     */
    utm_medium?: string;
    /**
     * Exact utm_campaign of the URL.
     */
    utm_campaign?: string;
    /**
     * Exact utm_term of the URL.
     */
    utm_term?: string;
    /**
     * Exact utm_content of the URL.
     */
    utm_content?: string;
    /**
     * Exact country of the sender, such as DE.
     */
    country?: string;
    /**
     * Exact region of the sender.
     */
    region?: string;
    /**
     * Exact city of the sender.
     */
    city?: string;
    /**
     * Exact device type, such as desktop.
     */
    device_type?: string;
    /**
     * Exact browser name, such as Chrome.
     */
    browser?: string;
    /**
     * Exact name of the operating system, such as macOS.
     */
    os?: string;
    /**
     * Whether the sender identifies itself as a bot.
     */
    is_bot?: boolean;
    /**
     * Whether the URL's host differs from the host of the page that sent the event.
     */
    origin_mismatch?: boolean;
    /**
     * Only events of a known contact.
     */
    identified_only?: boolean;
    /**
     * At or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
    /**
     * Received by the service at or after this time, whenever it happened. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    created_after?: string;
    /**
     * Words that must all occur in the event name, URL or domain. At most 10 words.
     */
    search?: string;
    /**
     * A filter of segments as JSON. Its conditions are on the event, as those in the where of an event condition.
     */
    filter?: string;
    /**
     * The field to sort by.
     */
    sort_by?: 'timestamp' | 'event' | 'createdAt';
    /**
     * Direction.
     */
    sort_dir?: 'asc' | 'desc';
    /**
     * Return only the number of results.
     */
    count_only?: boolean;
    /**
     * summary: compact events without contact and company.
     */
    fields?: 'summary' | 'full';
    /**
     * Adds system events, such as contact_created. Comma-separated list of: system.
     */
    include?: string;
};

export type ListExportsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListHookBodiesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The hook.
     */
    hook_id: string;
};

export type ListHooksInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListIdentitiesInput = {
    /**
     * Words that must all occur in the name, the role, the job title or the address. At most 10 words.
     */
    search?: string;
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListImportsInput = {
    /**
     * Only imports in this state.
     */
    state?: 'uploaded' | 'mapped' | 'previewing' | 'previewed' | 'running' | 'completed' | 'failed' | 'cancelled' | 'undoing' | 'undone';
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListInvitationsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListKeptContactsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The import.
     */
    import_id: string;
};

export type ListMailboxesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListMembersInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListMergesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The contact.
     */
    contact_id: string;
};

export type ListNotesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The contact.
     */
    contact_id: string;
};

export type ListPersonalPropertiesInput = {
    /**
     * The kind of record that has the properties; `events`: the fields of their data.
     */
    entity?: 'contacts' | 'companies' | 'events';
};

export type ListPlaybookVersionsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The agent.
     */
    agent_id: string;
};

export type ListPropertiesInput = {
    /**
     * The kind of record that has the properties.
     */
    entity?: 'contacts' | 'companies' | 'events';
    /**
     * Only what events of this name have in their data; for `entity=events`.
     */
    event?: string;
    /**
     * Only properties whose name or label contains this, in any case.
     */
    search?: string;
};

export type ListReportsInput = {
    /**
     * Words that must all occur in the name. At most 10 words.
     */
    search?: string;
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListRequestProblemsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListRunContactsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The run.
     */
    run_id: string;
};

export type ListScheduleTimesInput = {
    /**
     * Five fields.
     */
    cron: string;
    /**
     * An IANA name. Default: UTC.
     */
    time_zone?: string;
};

export type ListSegmentChangesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The segment.
     */
    segment_id: string;
};

export type ListSegmentCompaniesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The segment.
     */
    segment_id: string;
};

export type ListSegmentContactsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The segment.
     */
    segment_id: string;
};

export type ListSegmentsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListSourcesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListSuppressionsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListViewsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListVisitsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * Events of this contact.
     */
    contact_id?: string;
    /**
     * Events of this company's contacts, of the newest 1,000 if it has more.
     */
    company_id?: string;
    /**
     * Events of this visitor.
     */
    visitor_id?: string;
    /**
     * Events of this session.
     */
    session_id?: string;
    /**
     * Only events of a known contact.
     */
    identified_only?: boolean;
    /**
     * Exact host of the URL.
     */
    domain?: string;
    /**
     * Exact country of the sender, such as DE.
     */
    country?: string;
    /**
     * Exact device type, such as desktop.
     */
    device_type?: string;
    /**
     * Exact browser name, such as Chrome.
     */
    browser?: string;
    /**
     * Exact name of the operating system, such as macOS.
     */
    os?: string;
    /**
     * Whether the sender identifies itself as a bot.
     */
    is_bot?: boolean;
    /**
     * At or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_after?: string;
    /**
     * At or before this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    date_before?: string;
};

export type ListWarehouseDestinationsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListWarehouseRunsInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    /**
     * The export destination.
     */
    destination_id: string;
};

export type ListWebhookDeliveriesInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
    status?: 'pending' | 'succeeded' | 'failed';
    /**
     * The webhook subscription.
     */
    subscription_id: string;
};

export type ListWebhookHealthInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type ListWebhooksInput = {
    /**
     * Page, from 1.
     */
    page?: number;
    /**
     * Records per page.
     */
    limit?: number;
};

export type MergeContactInput = {
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The contact that survives.
     */
    into: string;
};

export type OrderEnrichmentProvidersInput = {
    /**
     * Every provider once, the first to be asked first.
     */
    provider_ids: Array<string>;
};

export type PauseConnectionInput = {
    /**
     * The connection.
     */
    connection_id: string;
};

export type PauseWarehouseDestinationInput = {
    /**
     * The export destination.
     */
    destination_id: string;
};

export type PauseWebhookInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
};

export type PreviewAlertInput = {
    /**
     * The report whose number is watched.
     */
    report_id: string;
    /**
     * Which number. trend: `{"series": "A"}`, in the newest complete interval, or with `"running": true` in the one that is not over yet; `{}` if the question has a formula. funnel: `{"step": 2, "figure": "from_first"}`, where figure is count, from_first or from_previous. retention: `{"interval": 1}`, the average of that interval.
     */
    at: {
        [key: string]: unknown;
    };
    condition: AlertCondition;
};

export type PreviewHookInput = {
    /**
     * The hook.
     */
    hook_id: string;
    mapping?: HookMapping;
    /**
     * A JSON object or array. Default: the newest kept body.
     */
    sample?: unknown;
};

export type PreviewImportInput = {
    /**
     * The import.
     */
    import_id: string;
};

export type PreviewMailInput = {
    subject: string;
    /**
     * Markdown.
     */
    message: string;
};

export type PreviewSegmentInput = {
    /**
     * What the filter selects; `contacts` by default.
     */
    entity?: 'contacts' | 'companies';
    filter: SegmentFilter;
};

export type PreviewWebhookMessageInput = {
    event: string;
    /**
     * The text of the message, with placeholders such as {{contact.email}}. Only for the format `slack`. Default: a default text for the event.
     */
    template?: string;
};

export type ProposeActionInput = {
    /**
     * The agent.
     */
    agent_id: string;
    /**
     * The contact.
     */
    contact_id: string;
    type: 'email_message' | 'social_message' | 'social_connect' | 'note' | 'crm_update';
    /**
     * The content. The type of the action determines the fields.
     */
    params: {
        [key: string]: unknown;
    };
    /**
     * Why you propose it. The person who approves it reads this.
     */
    reason: string;
};

export type ProposeHookMappingInput = {
    /**
     * The hook.
     */
    hook_id: string;
    /**
     * A JSON object or array. Default: the newest kept body.
     */
    sample?: unknown;
};

export type PullConnectionInput = {
    /**
     * The connection.
     */
    connection_id: string;
};

export type PushSourceContactsInput = {
    source: string;
    /**
     * The kind of source. It is remembered; the default is crm.
     */
    kind?: 'crm' | 'enrichment' | 'email' | 'messaging' | 'analytics';
    records: Array<{
        /**
         * The record's id in the source.
         */
        external_id: string;
        /**
         * A string; null counts as absent.
         */
        email?: unknown;
        /**
         * Key-value properties, as in a contact; null removes one.
         */
        properties?: unknown;
        /**
         * The source's record as JSON; stored, and returned only with include=raw.
         */
        raw?: unknown;
        /**
         * When the record changed in the source (ISO 8601 with an offset). Default: now.
         */
        updated_at?: unknown;
    }>;
};

export type PushSourceConversationsInput = {
    source: string;
    records: Array<{
        /**
         * The id of the conversation in the tool.
         */
        thread_key: string;
        subject?: string | null;
        /**
         * The person outside the tenant: an external_id, an email, or both. Used for every sender or recipient without an address.
         */
        contact?: {
            external_id?: string;
            email?: string;
        };
        messages: Array<{
            message_id: string;
            direction: 'inbound' | 'outbound';
            from: SentParticipant;
            to: Array<SentParticipant>;
            sent_at: string;
            text: string;
            html?: string | null;
        }>;
    }>;
};

export type ReadSharedInput = {
    /**
     * The last part of the link.
     */
    token: string;
};

export type ReceiveHookInput = {
    token: string;
} & {
    [key: string]: unknown;
};

export type RejectActionInput = {
    /**
     * The run.
     */
    run_id: string;
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The position of the action among those of its contact, from 0.
     */
    action_index: string;
    /**
     * Stored in the audit log.
     */
    reason?: string;
};

export type RejectActionsInput = {
    actions: Array<ActionPlace>;
    /**
     * Stored in the audit log.
     */
    reason?: string;
};

export type RemoveDomainInput = {
    /**
     * The domain.
     */
    domain_id: string;
};

export type RemoveEmailAccountInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type RemoveMemberInput = {
    /**
     * The member.
     */
    user_id: string;
};

export type RemoveSuppressionInput = {
    /**
     * Whether the owner of the address has agreed to mail since they unsubscribed or complained. You must be able to prove it.
     */
    consented?: boolean;
    /**
     * The email address.
     */
    address: string;
};

export type RenewInvitationInput = {
    /**
     * The invitation.
     */
    invitation_id: string;
};

export type ReplaceViewInput = {
    /**
     * The saved view.
     */
    view_id: string;
    name: string;
    page: 'contacts' | 'companies' | 'events';
    query: {
        [key: string]: string | number | boolean | Array<string>;
    };
    columns: Array<string>;
};

export type ReplayAgentInput = {
    /**
     * The agent.
     */
    agent_id: string;
    playbook: AgentPlaybook;
    playbook_template?: string | null;
    /**
     * The contacts to evaluate, in this order, whether or not the agent has evaluated them.
     */
    contact_ids?: Array<string>;
    filter?: SegmentFilter;
    /**
     * Contacts.
     */
    limit?: number;
};

export type RereadConnectionInput = {
    /**
     * The connection.
     */
    connection_id: string;
    /**
     * Default: everything. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    since?: string;
};

export type RereadMailboxInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type ResendWebhookDeliveriesInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
    /**
     * Events recorded at or after this time. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    from: string;
    /**
     * Events recorded at or before this time. Default: now. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    to?: string;
    /**
     * `failed`: those that failed for good. `waiting`: those that wait for a retry. `all`: both, and those that succeeded.
     */
    only?: 'failed' | 'waiting' | 'all';
    /**
     * Where to continue: the `next` of the previous response.
     */
    after?: string;
};

export type ResendWebhookDeliveryInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
    /**
     * The delivery.
     */
    delivery_id: string;
};

export type ResumeConnectionInput = {
    /**
     * The connection.
     */
    connection_id: string;
};

export type ResumeWarehouseDestinationInput = {
    /**
     * The export destination.
     */
    destination_id: string;
};

export type ResumeWebhookInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
};

export type RevealHookUrlInput = {
    /**
     * The hook.
     */
    hook_id: string;
};

export type RevokeApiKeyInput = {
    /**
     * The API key.
     */
    key_id: string;
};

export type RevokeConnectedAppInput = {
    /**
     * The connected app.
     */
    grant_id: string;
};

export type RotateHookTokenInput = {
    /**
     * The hook.
     */
    hook_id: string;
    /**
     * Whether the old URL stops working at once. Use this after a leak.
     */
    revoke_old_url?: boolean;
};

export type RotateWebhookSecretInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
    /**
     * How long both secrets sign. Default: a day; 0 revokes the old one at once.
     */
    overlap_seconds?: number;
    /**
     * When X-Service-Signature switches to the new secret. Default: the end of the overlap. ISO 8601 with an offset, or a date alone (UTC). Inclusive.
     */
    switch_at?: string;
};

export type RotateWriteKeyInput = {
    /**
     * The source.
     */
    source_id: string;
    /**
     * Whether the old key, and any before it, stops working at once: after a leak.
     */
    revoke_old_key?: boolean;
};

export type RunDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
};

export type RunHookBodyInput = {
    /**
     * The hook.
     */
    hook_id: string;
    /**
     * The body.
     */
    body_id: string;
};

export type RunReportInput = {
    /**
     * The report.
     */
    report_id: string;
};

export type RunWarehouseExportInput = {
    /**
     * The export destination.
     */
    destination_id: string;
    /**
     * Whether to export all events again. The manifest then marks them as replacing the earlier ones.
     */
    full?: boolean;
};

export type SdkAliasInput = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * Your own system's id for the person: a string or a number.
     */
    userId?: unknown;
    /**
     * The visitor: a string of at most 200 characters.
     */
    anonymousId?: unknown;
    /**
     * Any text. The call is recorded once, however often its source sends it.
     */
    messageId?: unknown;
    /**
     * When it happened: ISO 8601, in UTC if it has no offset, or seconds or milliseconds since 1970. It is preferred to originalTimestamp.
     */
    timestamp?: unknown;
    /**
     * Page, locale, time zone, screen, user agent and traits.
     */
    context?: unknown;
};

export type SdkBatchInput = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * 1 to 2,500 calls; `type` is one of track, identify, page, screen, group, alias.
     */
    batch: Array<unknown>;
    /**
     * Added to the context of each call.
     */
    context?: unknown;
};

export type SdkGroupInput = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * Your own system's id for the person: a string or a number.
     */
    userId?: unknown;
    /**
     * The visitor: a string of at most 200 characters.
     */
    anonymousId?: unknown;
    /**
     * Any text. The call is recorded once, however often its source sends it.
     */
    messageId?: unknown;
    /**
     * When it happened: ISO 8601, in UTC if it has no offset, or seconds or milliseconds since 1970. It is preferred to originalTimestamp.
     */
    timestamp?: unknown;
    /**
     * Page, locale, time zone, screen, user agent and traits.
     */
    context?: unknown;
};

export type SdkImportInput = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * 1 to 2,500 calls; `type` is one of track, identify, page, screen, group, alias.
     */
    batch: Array<unknown>;
    /**
     * Added to the context of each call.
     */
    context?: unknown;
};

export type SdkPageInput = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * Your own system's id for the person: a string or a number.
     */
    userId?: unknown;
    /**
     * The visitor: a string of at most 200 characters.
     */
    anonymousId?: unknown;
    /**
     * Any text. The call is recorded once, however often its source sends it.
     */
    messageId?: unknown;
    /**
     * When it happened: ISO 8601, in UTC if it has no offset, or seconds or milliseconds since 1970. It is preferred to originalTimestamp.
     */
    timestamp?: unknown;
    /**
     * Page, locale, time zone, screen, user agent and traits.
     */
    context?: unknown;
};

export type SdkScreenInput = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * Your own system's id for the person: a string or a number.
     */
    userId?: unknown;
    /**
     * The visitor: a string of at most 200 characters.
     */
    anonymousId?: unknown;
    /**
     * Any text. The call is recorded once, however often its source sends it.
     */
    messageId?: unknown;
    /**
     * When it happened: ISO 8601, in UTC if it has no offset, or seconds or milliseconds since 1970. It is preferred to originalTimestamp.
     */
    timestamp?: unknown;
    /**
     * Page, locale, time zone, screen, user agent and traits.
     */
    context?: unknown;
};

export type SdkTrackInput = {
    /**
     * Instead of the Authorization header.
     */
    writeKey?: string;
    /**
     * The sender's clock when it sends, used to correct the timestamps.
     */
    sentAt?: unknown;
    /**
     * Your own system's id for the person: a string or a number.
     */
    userId?: unknown;
    /**
     * The visitor: a string of at most 200 characters.
     */
    anonymousId?: unknown;
    /**
     * Any text. The call is recorded once, however often its source sends it.
     */
    messageId?: unknown;
    /**
     * When it happened: ISO 8601, in UTC if it has no offset, or seconds or milliseconds since 1970. It is preferred to originalTimestamp.
     */
    timestamp?: unknown;
    /**
     * Page, locale, time zone, screen, user agent and traits.
     */
    context?: unknown;
};

export type SendEventsInput = {
    events: Array<{
        event: string;
        /**
         * A UUID of your choice. An event with the same id is recorded once within 24 hours, so you can send a request again. It becomes the id of the event, unless another sender has used it, or it is a UUIDv7 whose time is more than 12 hours away.
         */
        event_id?: string;
        /**
         * When it happened: ISO 8601 with an offset, not before 2000. Default: now, as for a time more than 24 hours ahead.
         */
        timestamp?: string;
        /**
         * The contact whose event it is. Send it without user_id and email.
         */
        contact_id?: string;
        /**
         * Your own system's id of the person.
         */
        user_id?: string;
        email?: string;
        /**
         * A visitor of the tracker. Beside another key, the visitor is linked to the contact.
         */
        visitor_id?: string;
        session_id?: string;
        url?: string;
        referrer?: string;
        /**
         * At most 32 KiB of JSON.
         */
        data?: {
            [key: string]: unknown;
        };
        /**
         * The person's device: screen, language, timezone, user_agent, analytics_user_id, and ip, from which the country, region and city follow and which is not stored. Other fields are ignored.
         */
        context?: {
            [key: string]: unknown;
        };
        title?: string;
    }>;
};

export type SetConnectionActivitiesInput = {
    /**
     * The connection.
     */
    connection_id: string;
    /**
     * false: nothing is stored any more, and what waits is dropped.
     */
    enabled: boolean;
};

export type SetConnectionWriteBackInput = {
    /**
     * The connection.
     */
    connection_id: string;
    /**
     * Empty: write-back is off.
     */
    properties: Array<WriteBackProperty>;
    /**
     * Whether to create changed contacts in the system that do not exist there. They need an email, and nothing may stop outreach to them. A record with the same email is linked instead. Default: false.
     */
    create_missing?: boolean;
};

export type SetEmailAccountInput = {
    /**
     * The identity.
     */
    identity_id: string;
    address: string;
    smtp: {
        /**
         * The SMTP server.
         */
        host: string;
        /**
         * Default: 587.
         */
        port?: number;
        /**
         * Default: starttls.
         */
        security?: 'tls' | 'starttls' | 'none';
        /**
         * Default: the address.
         */
        user?: string;
    };
    /**
     * null or omitted: mail is sent but not received.
     */
    imap?: {
        /**
         * The IMAP server. Without one, mail is sent but not received.
         */
        host: string;
        /**
         * Default: 993.
         */
        port?: number;
        /**
         * Default: tls.
         */
        security?: 'tls' | 'starttls' | 'none';
        /**
         * Default: the user of SMTP.
         */
        user?: string;
    } | null;
    /**
     * The password for both servers. If no login is sent, the stored one is kept; one is required if a host or a user changes.
     */
    password?: string;
    /**
     * An OAuth2 access token instead of a password. It is not renewed.
     */
    access_token?: string;
    /**
     * An OAuth2 refresh token instead, with which the service gets access tokens.
     */
    refresh_token?: string;
    /**
     * The URL where access tokens are requested; required with a refresh token.
     */
    token_url?: string;
    /**
     * The OAuth client; required with a refresh token.
     */
    client_id?: string;
    /**
     * The OAuth client's secret, if it has one.
     */
    client_secret?: string;
    /**
     * Mails in any 24 hours. Default: 100.
     */
    daily_limit?: number;
    /**
     * Between two mails. Default: 60.
     */
    spacing_seconds?: number;
};

export type SetImportFormatInput = {
    /**
     * The import.
     */
    import_id: string;
    encoding?: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'macintosh' | 'iso-8859-15' | 'ibm850' | 'ibm437' | 'windows-1250' | 'iso-8859-2' | 'ibm852' | 'x-mac-ce' | 'windows-1251' | 'koi8-r' | 'ibm866' | 'x-mac-cyrillic' | 'windows-1253' | 'windows-1254' | 'windows-1255' | 'windows-1256' | 'windows-1257' | 'windows-1258' | 'windows-874' | 'shift_jis' | 'euc-jp' | 'iso-2022-jp' | 'gb18030' | 'big5' | 'euc-kr';
    /**
     * The character between cells, such as `;`.
     */
    delimiter?: string;
    /**
     * The line that names the columns; 1 is the first one of the file, and 0 means that none does.
     */
    header_line?: number;
    /**
     * Whether to propose the mapping of the last import with the same columns, if there is one. Default: true.
     */
    use_remembered?: boolean;
};

export type SetImportMappingInput = {
    /**
     * The import.
     */
    import_id: string;
    columns: Array<ColumnMapping>;
};

export type SetOAuthClientInput = {
    /**
     * The provider, such as google.
     */
    provider: string;
    client_id: string;
    client_secret: string;
};

export type ShareDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
};

export type ShareReportInput = {
    /**
     * The report.
     */
    report_id: string;
};

export type SocialCheckInput = {
    /**
     * The identity.
     */
    identity_id: string;
};

export type SocialLoginInput = {
    /**
     * The identity.
     */
    identity_id: string;
    /**
     * Requires `password`.
     */
    username?: string;
    password?: string;
    /**
     * The country that the login should appear to come from: an ISO 3166-1 alpha-2 code.
     */
    country?: string;
    /**
     * Seconds from the login call after which the login fails.
     */
    max_verification_wait_time?: number;
};

export type SocialLoginCodeInput = {
    /**
     * The identity.
     */
    identity_id: string;
    /**
     * The login session.
     */
    session_id: string;
    code: string;
};

export type SocialLoginStatusInput = {
    /**
     * The identity.
     */
    identity_id: string;
    /**
     * The login session.
     */
    session_id: string;
};

export type StartAuthorizationInput = {
    /**
     * The provider, such as google.
     */
    provider: string;
    /**
     * What the sign-in is for. `mailbox` needs `identity_id` and the scope identities:write. `connection` needs the scope settings:write and either `connection_id`, to sign in again, or `connector` with its settings; `source` and `read_since` are as in `POST /v1/connections`.
     */
    purpose: {
        kind: 'mailbox' | 'connection';
        [key: string]: string | 'mailbox' | 'connection';
    };
};

export type StartEnrichmentRunInput = {
    filter?: SegmentFilter;
    /**
     * These contacts. Those that do not exist are left out.
     */
    contact_ids?: Array<string>;
    /**
     * The members of this segment.
     */
    segment_id?: string;
    /**
     * The contacts of this import.
     */
    import_id?: string;
};

export type StartImportInput = {
    /**
     * The import.
     */
    import_id: string;
    /**
     * A tag that every contact of the file gets in its property `tags`, besides those it has. A segment of them has the condition that `tags` equals it. An import that continues keeps its tag.
     */
    tag?: string;
};

export type SubscribeToDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
};

export type SuggestSegmentValuesInput = {
    /**
     * A property of contacts, or a field of their events, such as `event.type`.
     */
    property: string;
    /**
     * Only values that contain this.
     */
    q?: string;
    limit?: number;
};

export type TestEnrichmentProviderInput = {
    /**
     * The enrichment provider.
     */
    provider_id: string;
    /**
     * A contact. Send this or `email`.
     */
    contact_id?: string;
    /**
     * An address of nobody you know.
     */
    email?: string;
};

export type TestWarehouseDestinationInput = {
    /**
     * The export destination.
     */
    destination_id: string;
};

export type TestWebhookInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
};

export type TriggerAgentInput = {
    /**
     * The agent.
     */
    agent_id: string;
    /**
     * The contacts to evaluate, in this order; without them the agent's monitoring filter chooses.
     */
    contact_ids?: Array<string>;
};

export type UndoDecisionsInput = {
    actions: Array<ActionPlace>;
};

export type UndoEnrichmentRunInput = {
    /**
     * The enrichment run.
     */
    enrichment_run_id: string;
};

export type UndoImportInput = {
    /**
     * The import.
     */
    import_id: string;
};

export type UnmergeContactInput = {
    /**
     * The contact.
     */
    contact_id: string;
};

export type UnshareDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
};

export type UnshareReportInput = {
    /**
     * The report.
     */
    report_id: string;
};

export type UnsubscribeFromDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
};

export type UpdateAgentInput = {
    /**
     * The agent.
     */
    agent_id: string;
    name?: string;
    description?: string | null;
    playbook_template?: string | null;
    playbook?: AgentPlaybook;
    capabilities?: Array<'email' | 'linkedin' | 'social' | 'notes' | 'crm_sync'>;
    identity_id?: string | null;
    monitoring?: AgentMonitoring;
    llm_config?: AgentModel;
    goal?: AgentGoal | null;
    /**
     * Whether its schedule and its triggers run and actions can be proposed for it. Default false.
     */
    enabled?: boolean;
};

export type UpdateAgentSettingsInput = {
    /**
     * The minimum number of days between two outreach actions to a contact, by any agent; 0 for no limit.
     */
    outreach_interval_days?: number;
    /**
     * The hours in which no outreach is sent, as HH:MM; null for none.
     */
    quiet_hours?: QuietHours | null;
    /**
     * An IANA name, used for contacts without a `timezone` property and for daily limits.
     */
    time_zone?: string;
    /**
     * Maximum outreach actions per identity and day.
     */
    daily_limit_per_identity?: number;
    /**
     * The number of days after a reply in which agents send nothing; 0 for no pause.
     */
    reply_pause_days?: number;
    /**
     * The maximum cost of models in a calendar month (UTC); null for no cap.
     */
    monthly_cost_cap_usd?: number | null;
};

export type UpdateAlertInput = {
    /**
     * The alert.
     */
    alert_id: string;
    name?: string;
    /**
     * The report whose number is watched.
     */
    report_id?: string;
    /**
     * Which number. trend: `{"series": "A"}`, in the newest complete interval, or with `"running": true` in the one that is not over yet; `{}` if the question has a formula. funnel: `{"step": 2, "figure": "from_first"}`, where figure is count, from_first or from_previous. retention: `{"interval": 1}`, the average of that interval.
     */
    at?: {
        [key: string]: unknown;
    };
    condition?: AlertCondition;
    /**
     * How often it is checked.
     */
    check_every?: 'hour' | 'day';
    /**
     * The ids of members who get a mail. Without any, only the event `alert_triggered` is recorded.
     */
    mail_to?: Array<string>;
    enabled?: boolean;
};

export type UpdateApiKeyInput = {
    /**
     * The API key.
     */
    key_id: string;
    name?: string;
    /**
     * The tools that it may use over MCP: their names, `all` for every tool that the scopes allow, or an empty list for none.
     */
    tools?: Array<string>;
};

export type UpdateCompanyInput = {
    /**
     * The company.
     */
    company_id: string;
    domain?: string | null;
    name?: string | null;
    /**
     * Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.
     */
    properties?: {
        [key: string]: unknown;
    };
};

export type UpdateComputedPropertyInput = {
    /**
     * The computed property.
     */
    computed_property_id: string;
    /**
     * What is computed of the events. `first`, `last` and `most_frequent` are values of `property`; of values that are equally frequent, the latest.
     */
    function?: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'distinct' | 'first' | 'last' | 'most_frequent';
    /**
     * The name of the events.
     */
    event?: string;
    /**
     * Conditions on each event alone; all must be true.
     */
    where?: Array<PropertyCondition | NestedFilter>;
    /**
     * The property of the events that is computed, such as `data.amount`; for every function but `count`, which has none.
     */
    property?: string | null;
    /**
     * Only events of the latest days count, each of 24 hours.
     */
    within_days?: number | null;
    /**
     * In place of a function: the value is the sum of the points of the filters that match.
     */
    score?: Array<ScoreRule>;
};

export type UpdateConnectedAppInput = {
    /**
     * The connected app.
     */
    grant_id: string;
    /**
     * The tools that it may use over MCP: their names, `all` for every tool that the scopes allow, or an empty list for none.
     */
    tools: Array<string>;
};

export type UpdateConnectionInput = {
    /**
     * The connection.
     */
    connection_id: string;
    /**
     * The connector's secret fields. They are stored encrypted and never returned.
     */
    credentials?: {
        [key: string]: string;
    };
    /**
     * The connector's other fields, such as a region.
     */
    settings?: {
        [key: string]: unknown;
    };
};

export type UpdateContactInput = {
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.
     */
    properties?: {
        [key: string]: unknown;
    };
    /**
     * Visitor id or ids from the tracker: their events belong to this contact.
     */
    visitor_id?: string | Array<string>;
    /**
     * Company to associate; null for none.
     */
    company_id?: string | null;
};

export type UpdateDashboardInput = {
    /**
     * The dashboard.
     */
    dashboard_id: string;
    name?: string;
    tiles?: Array<Tile>;
    /**
     * In place of the ranges of its reports; null for none.
     */
    range?: DashboardRange | null;
    /**
     * Conditions on every event, besides those of its reports; all must be true.
     */
    where?: Array<unknown>;
};

export type UpdateEnrichmentInput = {
    /**
     * Links a contact with a work address to the company with the domain of the address, and creates the company if there is none.
     */
    company?: boolean;
    /**
     * Fills `country`, `region` and `city` with the place of the last visit.
     */
    place?: boolean;
    /**
     * Fills `phone_e164` and `phone_country` from a phone number.
     */
    phone?: boolean;
    /**
     * Fills `firstname` and `lastname` with the name beside the address in mails.
     */
    name?: boolean;
    /**
     * The country of phone numbers without a country code, if the contact has no country: ISO 3166-1 alpha-2. null removes it.
     */
    country?: string | null;
};

export type UpdateEnrichmentProviderInput = {
    /**
     * The enrichment provider.
     */
    provider_id: string;
    name?: string;
    /**
     * Whether it is asked.
     */
    enabled?: boolean;
    /**
     * Kind `http` only: an https:// URL on the public internet, which is requested with GET. Behind the host, it can have variables: `{{contact.email}}`, `{{contact.email_domain}}`, `{{contact.PROPERTY}}`, `{{company.name}}`, `{{company.domain}}`, `{{company.PROPERTY}}`, `{{secrets.NAME}}`. A contact without one of the values is not asked about; `{{contact.lastname |}}` may be missing.
     */
    url?: string;
    /**
     * Kind `http` only: the headers of the request, with the same variables.
     */
    headers?: Array<EnrichmentHeaderInput>;
    mapping?: AnswerMapping;
    /**
     * What it may fill, of what its mapping has: properties of the contact, `company_id`, `company.name`, `company.<property>`. null: all.
     */
    fills?: Array<string> | null;
    /**
     * Secrets for the request, by name; `api_key` for the other kinds. They are stored encrypted and never shown. null removes one. When the URL gets another host, send them again.
     */
    secrets?: {
        [key: string]: string | null;
    };
    /**
     * The most requests in a calendar month, by the clock of the workspace. null for no limit.
     */
    monthly_budget?: number | null;
    /**
     * Default: that of the kind, which keeps to the provider's limit.
     */
    requests_per_minute?: number;
    /**
     * How long an answer serves the same question again, without a request. Default: 90.
     */
    cache_days?: number;
};

export type UpdateHookInput = {
    /**
     * The hook.
     */
    hook_id: string;
    name?: string;
    mapping?: HookMapping;
    enabled?: boolean;
    /**
     * The secret with which the sender signs bodies. It is stored encrypted and never shown. A hook of a ready-made kind accepts bodies only once it has a secret.
     */
    signing_secret?: string;
    /**
     * null: bodies are no longer signed, and the secret is removed.
     */
    signature_header?: string | null;
    /**
     * Whether kept bodies that were skipped or failed are recorded with the mapping, within seconds.
     */
    retry_bodies?: boolean;
};

export type UpdateIdentityInput = {
    /**
     * The identity.
     */
    identity_id: string;
    firstName?: string;
    lastName?: string;
    /**
     * null or an empty string removes the job title.
     */
    jobTitle?: string | null;
};

export type UpdateMemberInput = {
    /**
     * The member.
     */
    user_id: string;
    role: 'owner' | 'admin' | 'member' | 'viewer';
};

export type UpdateNoteInput = {
    /**
     * The contact.
     */
    contact_id: string;
    /**
     * The note.
     */
    note_id: string;
    content: string;
};

export type UpdateReportInput = {
    /**
     * The report.
     */
    report_id: string;
    name?: string;
    /**
     * The question, with the fields of the operation of its kind.
     */
    question?: {
        [key: string]: unknown;
    };
};

export type UpdateSegmentInput = {
    /**
     * The segment.
     */
    segment_id: string;
    name?: string;
    description?: string | null;
    filter?: SegmentFilter;
};

export type UpdateSourceInput = {
    /**
     * The source.
     */
    source_id: string;
    name: string;
};

export type UpdateTenantInput = {
    name?: string;
    /**
     * An IANA time zone. The dashboard shows times in it.
     */
    time_zone?: string;
    /**
     * Whether to ignore identifications that pages send without a valid user_hash.
     */
    require_signed_identification?: boolean;
    /**
     * Names of properties and of fields in the data of events that are hidden from AI agents, besides names, addresses and other personal values. Upper case, spaces, hyphens and underscores do not count. The list replaces the previous one.
     */
    personal_properties?: Array<string>;
    /**
     * Names of properties and of fields in the data of events that AI agents see, although their names or their values look personal. Email addresses, phone numbers and names of contacts in their values stay hidden. The list replaces the previous one, and a name that is added to one of the two lists leaves the other. Properties that are personal in every workspace, such as `email`, are refused.
     */
    visible_properties?: Array<string>;
    /**
     * Words that your systems send in place of an id that they do not have, such as `demo`. They are ignored as a user id, a visitor id and the id of a record, as are `undefined`, `null`, `anonymous` and the like for every tenant. Case, surrounding spaces and quotes do not count. What is already linked stays linked. The list replaces the previous one.
     */
    ignored_ids?: Array<string>;
};

export type UpdateWarehouseDestinationInput = {
    /**
     * The export destination.
     */
    destination_id: string;
    name?: string;
    access_key_id?: string;
    secret_access_key?: string;
    schedule?: string | null;
    /**
     * The time zone of the schedule. Default: UTC.
     */
    time_zone?: string;
};

export type UpdateWebhookInput = {
    /**
     * The webhook subscription.
     */
    subscription_id: string;
    /**
     * An https:// URL on the public internet.
     */
    url?: string;
    url_filter?: UrlFilter | null;
    where?: Array<unknown> | null;
    /**
     * Sent with each delivery. At most 20.
     */
    headers?: Array<WebhookHeader>;
    template?: string | null;
};

export type UploadImportInput = {
    /**
     * Name of the file, for the list of imports.
     */
    file_name?: string;
    /**
     * The text to send.
     */
    body: string;
};

export type VerifyDomainInput = {
    /**
     * The domain.
     */
    domain_id: string;
};

export type WriteContactsBackInput = {
    /**
     * The connection.
     */
    connection_id: string;
    contact_ids: Array<string>;
};
