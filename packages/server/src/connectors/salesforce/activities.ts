import { firstCharacters } from '../../platform/characters.ts'
import { ApiRefused, textOf } from '../client.ts'
import type { Activity, ActivityStore } from '../connector.ts'
import { DATA, query, soqlTime } from './query.ts'

const SUBJECT_LENGTH_MAX = 255
const DESCRIPTION_LENGTH_MAX = 32_000

/**
 * Stores completed tasks of a contact or a lead, those of emails with the subtype that Salesforce shows as one:
 * https://developer.salesforce.com/docs/atlas.en-us.object_reference.meta/object_reference/sforce_api_objects_task.htm
 */
export const salesforceActivities: ActivityStore = {
  find: async (client, activity) => {
    const { contact, at } = activity
    if (!/^[A-Za-z0-9]{15,18}$/.test(contact)) return null
    // A description cannot be part of a condition.
    const soql = `SELECT Id, Subject, Description FROM Task WHERE WhoId = '${contact}' AND CreatedDate >= ${soqlTime(at)}`
    const { records } = await query(client, { soql, isAll: false }, new Map())
    const sent = fieldsOf(activity)
    const found = records.find(
      ({ Subject, Description }) => Subject === sent.Subject && (Description ?? '') === sent.Description.trim(),
    )
    return found ? String(found.Id) : null
  },
  store: async (client, activity) => {
    const { id } = await client.call({ path: `${DATA}/sobjects/Task`, body: fieldsOf(activity) })
    const taskId = textOf(id)
    if (taskId === null) throw new ApiRefused(0, 'Salesforce did not return the id of the task.')
    return taskId
  },
}

function fieldsOf({ kind, contact, subject, text, at }: Activity) {
  return {
    WhoId: contact,
    Subject: firstCharacters(subject, SUBJECT_LENGTH_MAX),
    Description: firstCharacters(text, DESCRIPTION_LENGTH_MAX),
    Status: 'Completed',
    ActivityDate: at.toISOString().slice(0, 10),
    TaskSubtype: kind === 'email' ? 'Email' : 'Task',
  }
}
