import { LOOK_UP_SCOPES, type ModelDoor } from '../agents/reasoning/model-view.ts'
import { PROMPT_MARKS } from '../agents/reasoning/prompt-marks.ts'
import type { Values } from '../operations/declare.ts'
import { ABOUT_CONTACT, TEXT } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { openCall, type ToolServices } from './call.ts'
import { lookUp, plainSchema, toolsToLookUp } from './look-up.ts'
import { mapPseudonyms, restoreValues } from './redaction/pseudonyms.ts'
import { contactOfPseudonym } from './redaction/redactor.ts'

/** Characters of a result that a model of an agent reads: it looks up a fact or two, and each turn sends all results again. */
const RESULT_CHARACTERS_MAX = 8_000

const SCOPES: ReadonlySet<string> = new Set(LOOK_UP_SCOPES)

/** What models of agents can look up with the reading tools, and what hides personal values from them. */
export function openAgentDoor(services: ToolServices): ModelDoor {
  const tools = toolsToLookUp(services.operations, SCOPES)
  const offered = tools.map(({ name, title, description, input }) => ({
    name,
    title,
    description,
    input: plainSchema(input),
  }))
  /** Texts about a contact with every person in them hidden, and the values of the pseudonyms. */
  async function redacted(tenant: Tenant, texts: readonly string[], contactId: string) {
    const redactor = await services.openRedactor(tenant)
    const { texts: hidden } = await redactor.redact({ contact_id: contactId, texts }, TEXTS_ABOUT)
    return { texts: hidden as string[], issued: redactor.issued }
  }
  return {
    async open(tenant, { id, name }, redacts) {
      const redactor = await (redacts ? services.openRedactor(tenant) : services.openWithholder(tenant))
      const caller = { tenant, actor: { kind: 'agent' as const, id, name }, scopes: SCOPES }
      const call = openCall(services, caller, redactor, async () => ({ isConfirmed: false }))
      return {
        tools: offered,
        lookUp: (tool, input) => lookUp(tools, { call, redactor }, { name: tool, input }, RESULT_CHARACTERS_MAX),
        show: async (data) =>
          redacts ? ((await redactor.redact({ ...data } as Values, PROMPT_MARKS)) as unknown as typeof data) : data,
        reveal: (written, contactId) => redactor.reveal(written, contactId),
        restore: (value) => restoreValues(value, redactor.issued),
      }
    },
    async withoutPeople(tenant, texts, contactId) {
      const { texts: hidden } = await redacted(tenant, texts, contactId)
      const word = (pseudonym: string) => `[${WORDS[pseudonym.split(':')[0] ?? ''] ?? 'personal value'}]`
      return hidden.map((text) => mapPseudonyms(text, word))
    },
    async othersNamedIn(tenant, text, contactId) {
      const { texts, issued } = await redacted(tenant, [text], contactId)
      const others = new Map<string, string>()
      mapPseudonyms(texts.join(), (pseudonym) => {
        const id = contactOfPseudonym(pseudonym)
        if (id !== null && id !== contactId) others.set(id, issued.get(pseudonym) ?? pseudonym)
        return pseudonym
      })
      return [...others.values()]
    },
  }
}

/** Texts about a contact. */
const TEXTS_ABOUT = {
  properties: {
    contact_id: { type: 'string', ...ABOUT_CONTACT },
    texts: { type: 'array', items: { type: 'string', ...TEXT } },
  },
}

/** What stands in place of a person's values in an example. */
const WORDS: Readonly<Record<string, string>> = {
  firstname: 'first name',
  lastname: 'last name',
  name: 'name',
  email: 'email address',
  phone: 'phone number',
  address: 'address',
  url: 'URL',
}
