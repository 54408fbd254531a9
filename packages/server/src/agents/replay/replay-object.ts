import Type from 'typebox'
import { TRIED_BY, TRIED_ON, Tried } from '../runs/dry-run-object.ts'
import { TokenUsage } from '../runs/run-object.ts'

/** What two playbooks of an agent lead to for the same contacts. */
export const Replay = {
  ...TRIED_BY,
  playbook_version: Type.Integer({ description: 'The version that `current` follows.' }),
  items: Type.Array(Type.Object({ ...TRIED_ON, current: Tried, proposed: Tried }, { title: 'ReplayedContact' }), {
    description:
      'In the order of the contacts. `current` follows the stored playbook, and `proposed` the one that was sent.',
  }),
  usage: TokenUsage,
}
