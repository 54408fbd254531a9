import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration } from '../agent.ts'
import { NOTHING_NOTICED, type WhyNow } from '../triggers/why-now.ts'
import { createModelReasoner } from './model-reasoner.ts'
import { chooseModel, type LlmSettings } from './models.ts'
import type { Reasoner } from './reasoner.ts'
import { createTemplateReasoner } from './template-reasoner.ts'
import type { Sender } from './values.ts'

export interface ReasonerDependencies {
  llm: LlmSettings
  /** The HTTP client for requests to model providers. */
  llmOutbound: Pick<ApiFetch, 'fetch'>
}

interface Choice {
  reasoner: Reasoner
  /** Whether the template replaces a model that is not configured: then outbound actions always need approval. */
  isStandIn: boolean
}

/**
 * Chooses the provider of an agent: the one it names, else one that the service has a key for, else the template.
 * @param why what has the agent look at the contacts now
 */
export function chooseReasoner(
  tenant: Tenant,
  { llm, llmOutbound }: ReasonerDependencies,
  configuration: AgentConfiguration,
  sender: Sender | null,
  why: WhyNow = NOTHING_NOTICED,
): Choice {
  const { provider } = configuration.llm_config
  const template = createTemplateReasoner(tenant, configuration, sender, why)
  if (provider === 'template') return { reasoner: template, isStandIn: false }
  const model = chooseModel(llm, configuration.llm_config)
  if (model) {
    const reasoner = createModelReasoner(tenant, llmOutbound, { configuration, sender, why }, model, llm.prices)
    return { reasoner, isStandIn: false }
  }
  const missing =
    provider === undefined ? 'No language model is configured' : `The model provider ${provider} is not configured`
  const waiting =
    provider === undefined ? '' : ' Outbound actions wait for approval, because the agent asks for a model.'
  const notice = `${missing}, so the messages come from the agent's template.${waiting}`
  return { reasoner: { ...template, notices: [notice, ...template.notices] }, isStandIn: provider !== undefined }
}
