import { finishAction } from '../src/agents/actions/record.ts'
import { changeContacts } from '../src/contacts/writing/transaction.ts'
import { insertIdentity, MAIL, NOTE, propose } from './actions.ts'
import type { TestService, TestTenant } from './service.ts'

type Kind = 'note' | 'email_message'

/** An approved note or mail of an agent that was executed. No mail is sent. */
export async function executed(service: TestService, tenant: TestTenant, contactId: string, kind: Kind): Promise<void> {
  const { handle } = tenant
  const identityId = await insertIdentity(handle)
  const proposal = kind === 'note' ? NOTE : { ...MAIL, identityId }
  const later = { send: async () => {} }
  const { ref, agentId } = await propose(handle, later as never, { contactId, ...proposal })
  await handle.db.updateTable('agent_actions').set({ status: 'approved' }).where('run_id', '=', ref.runId).execute()
  const now = new Date()
  await changeContacts(handle, service.writing, async (tx, log) => {
    const action = { ...ref, agentId, identityId, type: kind }
    await finishAction(tx, log.events, action, { status: 'executed', result: {} }, now)
  })
}
