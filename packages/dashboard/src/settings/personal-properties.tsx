import { useQuery } from '@tanstack/react-query'
import { setPersonalProperties, tenantQuery } from '../api/tenant.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { SettingsPart } from './settings-part.tsx'
import { text } from './text.ts'
import { WordList } from './word-list.tsx'

const NAMES_MAX = 200
const NAME_LENGTH_MAX = 100

/** The properties that are hidden from AI agents, besides those that are personal in every workspace. */
export function PersonalProperties() {
  const { data: tenant, error, refetch } = useQuery(tenantQuery)
  return (
    <SettingsPart title={text.workspace.personal.title}>
      {error && !tenant ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !tenant ? <LoadingState lines={2} /> : null}
      {tenant ? (
        <WordList
          saved={tenant.personal_properties}
          save={setPersonalProperties}
          text={text.workspace.personal}
          max={NAMES_MAX}
          lengthMax={NAME_LENGTH_MAX}
        />
      ) : null}
    </SettingsPart>
  )
}
