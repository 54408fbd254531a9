import Type from 'typebox'
import { idInPath, operation } from '../../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { timestampBound } from '../../platform/http/query-parameters.ts'
import { Nullable } from '../../platform/http/responses.ts'
import { readAgent } from '../agents.ts'
import { listVersions, readVersion } from '../playbooks/versions.ts'
import { WINDOW_DAYS } from './followed.ts'
import { AgentGoal } from './goal.ts'
import { ListedVersion, PlaybookVersion, VersionOutcomes } from './outcomes-object.ts'
import { readOutcomes } from './read.ts'

const tag = 'Agents'
const AgentPath = { agent_id: idInPath('agent') }

/** What the versions of an agent's playbook led to. */
export const OUTCOME_OPERATIONS = [
  operation({
    name: 'getAgentOutcomes',
    tag,
    http: 'GET /v1/agents/:agent_id/outcomes',
    command: 'agent outcomes',
    scope: 'agents:read',
    summary: 'Count what became of the proposals of an agent, by version of its playbook, newest first',
    description: `Each change of what the playbook says is a version. What a contact does within ${WINDOW_DAYS} days after a message counts for every message that was sent to it in that time. Actions that others proposed for the agent do not count.`,
    input: {
      ...AgentPath,
      date_after: timestampBound('lower', 'Actions proposed at or after this time.'),
      date_before: timestampBound('upper', 'Actions proposed at or before this time.'),
      ...pageParameters(20, 100),
    },
    output: {
      outcomes: Type.Array(VersionOutcomes),
      goal: Nullable(AgentGoal),
      window_days: Type.Integer(),
      pagination: Pagination,
    },
    async run({ tenant, now }, { agent_id, date_after: after, date_before: before, page, limit }) {
      const bounds = { ...(after === undefined ? {} : { after }), ...(before === undefined ? {} : { before }) }
      const { outcomes, goal, total } = await readOutcomes(tenant, agent_id, bounds, { page, limit }, now)
      return { outcomes, goal, window_days: WINDOW_DAYS, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'listPlaybookVersions',
    tag,
    http: 'GET /v1/agents/:agent_id/playbook-versions',
    command: 'playbook-version list',
    scope: 'agents:read',
    summary: 'List the latest 1,000 versions of an agent’s playbook, newest first',
    input: { ...AgentPath, ...pageParameters(20, 100) },
    output: { versions: Type.Array(ListedVersion), pagination: Pagination },
    async run({ tenant }, { agent_id, page, limit }) {
      await readAgent(tenant, agent_id)
      const { versions, total } = await listVersions(tenant, agent_id, { page, limit })
      return { versions, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getPlaybookVersion',
    tag,
    http: 'GET /v1/agents/:agent_id/playbook-versions/:version',
    command: 'playbook-version get',
    scope: 'agents:read',
    summary: 'Get what a version of an agent’s playbook says',
    input: {
      ...AgentPath,
      version: Type.String({ description: 'The number of the version, from 1.', examples: ['1'] }),
    },
    output: { version: PlaybookVersion },
    run: async ({ tenant }, { agent_id, version }) => ({ version: await readVersion(tenant, agent_id, version) }),
  }),
]
