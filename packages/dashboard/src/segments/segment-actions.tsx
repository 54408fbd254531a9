import { Button, Menu } from '@mantine/core'
import {
  IconBuilding,
  IconCopy,
  IconDots,
  IconDownload,
  IconEdit,
  IconRobot,
  IconTrash,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { urlOf } from '../api/client.ts'
import { useOperation } from '../api/operation.ts'
import type { Segment } from '../api/types.ts'
import { SEGMENT } from '../filters/fields.ts'
import { filterText } from '../filters/filter-text.ts'
import { useIsAtLeast, useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { text } from './text.ts'

const words = text.segment

/** What people do with a segment: see, export, write to and copy its members. */
export function SegmentActions({ segment }: { segment: Segment }) {
  const navigate = useNavigate()
  const { button, afterFocus } = useMenuButton()
  const [isDeleting, setDeleting] = useState(false)
  const { segment_id: segmentId, entity } = segment
  const isOfContacts = entity === 'contacts'
  const mayWrite = useIsAtLeast('member')
  const mayRun = useIsAtLeast('admin')
  const mayHook = useMay('webhooks:write')
  const removing = useOperation('deleteSegment', { onDone: () => navigate({ to: '/segments' }) })
  return (
    <>
      {isOfContacts ? (
        <ButtonLink
          variant="default"
          leftSection={<IconUsers size={16} aria-hidden />}
          to="/contacts"
          search={{ segment_id: segmentId }}
        >
          {words.openAsList}
        </ButtonLink>
      ) : (
        <ButtonLink
          variant="default"
          leftSection={<IconBuilding size={16} aria-hidden />}
          to="/companies"
          search={{ filter: filterText(inSegment(segmentId)) }}
        >
          {words.openAsList}
        </ButtonLink>
      )}
      <Button
        component="a"
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        href={
          isOfContacts
            ? urlOf('exportContacts', { segment_id: segmentId, columns: EXPORTED })
            : urlOf('exportCompanies', { segment_id: segmentId })
        }
        download
      >
        {words.export}
      </Button>
      {mayWrite ? (
        <>
          <ButtonLink
            leftSection={<IconEdit size={16} aria-hidden />}
            to="/segments/$segmentId/edit"
            params={{ segmentId }}
          >
            {words.edit}
          </ButtonLink>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button ref={button} variant="default" px="xs" aria-label={words.more}>
                <IconDots size={16} aria-hidden />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {mayRun && isOfContacts ? (
                <Menu.Item
                  leftSection={<IconRobot size={16} aria-hidden />}
                  onClick={() => navigate({ to: '/agents/new', search: { segment: segmentId } })}
                >
                  {words.startAgent}
                </Menu.Item>
              ) : null}
              {mayHook && isOfContacts ? (
                <Menu.Item
                  leftSection={<IconWebhook size={16} aria-hidden />}
                  onClick={() =>
                    navigate({ to: '/webhooks/new', search: { event: 'segment_entered', segment: segmentId } })
                  }
                >
                  {words.webhook}
                </Menu.Item>
              ) : null}
              <Menu.Item
                leftSection={<IconCopy size={16} aria-hidden />}
                onClick={() => navigate({ to: '/segments/new', search: { copy: segmentId } })}
              >
                {words.duplicate}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<IconTrash size={16} aria-hidden />}
                onClick={afterFocus(() => setDeleting(true))}
              >
                {words.remove}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      ) : null}
      <ConfirmDialog
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title={words.removeTitle}
        explanation={words.removeHint[entity]}
        confirmLabel={words.removeConfirm}
        onConfirm={() => removing.mutateAsync({ segment_id: segmentId })}
      />
    </>
  )
}

const inSegment = (segmentId: string) => ({
  match: 'all' as const,
  conditions: [{ property: SEGMENT, operator: 'in' as const, value: [segmentId] }],
})

/** The columns of the exported file. */
const EXPORTED = 'contact_id,email,firstname,lastname,company,jobtitle,lifecyclestage,created_at'
