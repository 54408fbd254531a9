import { Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { call } from '../api/client.ts'
import { useMe } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { SettingsPart } from '../ui/settings-part.tsx'
import { text } from './text.ts'

/** Closes the workspace, whose name has to be typed; an export is offered first. Only for owners. */
export function CloseWorkspace() {
  const { tenant } = useMe()
  const queryClient = useQueryClient()
  const router = useRouter()
  return (
    <SettingsPart title={text.settings.title}>
      <Text size="sm">{text.settings.explanation}</Text>
      <Group gap="xs">
        <ButtonLink variant="default" to="/settings/data">
          {text.settings.exportFirst}
        </ButtonLink>
        <ConfirmButton
          color="red"
          variant="light"
          title={text.settings.confirmTitle}
          explanation={<Text size="sm">{text.settings.confirm}</Text>}
          confirmLabel={text.settings.close}
          typeToConfirm={tenant.name}
          onConfirm={async () => {
            await call('closeTenant', { confirm: tenant.name })
            await router.navigate({ to: '/closed' })
            queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' })
          }}
        >
          {text.settings.close}
        </ConfirmButton>
      </Group>
    </SettingsPart>
  )
}
