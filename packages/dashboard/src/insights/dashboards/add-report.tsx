import { Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../../api/operation.ts'
import type { Report } from '../../api/types.ts'
import { FindField, FOUND_MAX } from '../../ui/find-field.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { text } from './text.ts'

const words = text.edit.report

interface AddReportProps {
  onChoose: (report: Report) => void
  onClose: () => void
}

/** Finds the report of a new tile. */
export function AddReport({ onChoose, onClose }: AddReportProps) {
  const { items } = useFound('')
  return (
    <Modal opened onClose={onClose} title={words.title}>
      <Stack>
        <FindField
          label={words.find}
          placeholder={words.placeholder}
          what={words.what}
          useFound={useFound}
          offersAll
          autoFocus
          keyOf={({ report_id }) => report_id}
          nameOf={({ name }) => name}
          onChoose={onChoose}
        />
        {items?.length === 0 ? (
          <Text size="sm">
            {words.none}{' '}
            <AnchorLink inherit to="/insights">
              {words.ask}
            </AnchorLink>
          </Text>
        ) : null}
      </Stack>
    </Modal>
  )
}

function useFound(search: string) {
  const { data, ...found } = useQuery(queryOf('listReports', { search: search || undefined, limit: FOUND_MAX }))
  return { ...found, items: data?.reports }
}
