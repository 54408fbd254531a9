import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { IconBuilding, IconDownload, IconPencil, IconTrash, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import type { Entity } from '../api/types.ts'
import type { Selection } from '../ui/use-selection.ts'
import { BulkCompany } from './bulk-company.tsx'
import { BulkDelete } from './bulk-delete.tsx'
import type { BulkActionProps } from './bulk-dialog.tsx'
import { BulkEnrich } from './bulk-enrich.tsx'
import { BulkProperty } from './bulk-property.tsx'
import type { BulkMatching } from './change-many.ts'
import { text } from './text.ts'

interface BulkBarProps {
  entity: Entity
  selection: Selection
  /** The number of rows on the page, and of all that match. */
  shown: number
  total: number
  matching: BulkMatching
  mayWrite: boolean
  /** The URL of the file. @param ids undefined: all that match. */
  csvOf: (ids: readonly string[] | undefined) => string
  onChanged: () => void
  /** What can be done with exactly these rows. */
  children?: ReactNode
}

type Action = 'property' | 'company' | 'delete'

/** What can be done with the selected records, or with all that match. */
export function BulkBar(props: BulkBarProps) {
  const { entity, selection, shown, total, matching, mayWrite, csvOf, onChanged, children } = props
  const { ids } = selection
  const [action, setAction] = useState<Action | null>(null)
  // Another choice of rows is no longer all that match.
  const [allBeyond, setAllBeyond] = useState<ReadonlySet<string> | null>(null)
  const isAll = allBeyond === ids
  const count = isAll ? total : ids.size
  const dialog: BulkActionProps = {
    entity,
    target: isAll ? { matching } : { ids: [...ids] },
    count,
    onChanged,
    onClose: () => setAction(null),
  }
  return (
    <>
      <Group gap={4} wrap="nowrap">
        <ActionIcon variant="subtle" color="gray" aria-label={text.bulk.clear} onClick={selection.clear}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
        <Text size="sm" fw={550} role="status">
          {text.bulk.selected(count)}
        </Text>
      </Group>
      {!isAll && ids.size === shown && total > shown ? (
        <Button variant="subtle" size="compact-sm" onClick={() => setAllBeyond(ids)}>
          {text.bulk.selectMatching(total)}
        </Button>
      ) : null}
      {mayWrite ? (
        <>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPencil size={14} aria-hidden />}
            onClick={() => setAction('property')}
          >
            {text.bulk.setProperty}
          </Button>
          {entity === 'contacts' ? (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconBuilding size={14} aria-hidden />}
              onClick={() => setAction('company')}
            >
              {text.bulk.setCompany}
            </Button>
          ) : null}
          {entity === 'contacts' ? <BulkEnrich {...dialog} onStarted={selection.clear} /> : null}
          {isAll ? null : children}
        </>
      ) : null}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconDownload size={14} aria-hidden />}
        component="a"
        href={csvOf(isAll ? undefined : [...ids])}
        download
      >
        {text.bulk.exportCsv}
      </Button>
      {mayWrite ? (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconTrash size={14} aria-hidden />}
          onClick={() => setAction('delete')}
        >
          {text.bulk.delete}
        </Button>
      ) : null}
      {action === 'property' ? <BulkProperty {...dialog} /> : null}
      {action === 'company' ? <BulkCompany {...dialog} /> : null}
      {action === 'delete' ? <BulkDelete {...dialog} /> : null}
    </>
  )
}
