import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Contact } from '../api/types.ts'
import { companyName } from '../records/company-columns.tsx'
import { companyChoice, useFoundCompanies } from '../records/find-companies.ts'
import { useMay } from '../session/may.ts'
import { FindField } from '../ui/find-field.tsx'
import { FormError } from '../ui/form.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

/** The company of a contact, changed in place. */
export function ContactCompany({ contact: { contact_id, company_id: companyId } }: { contact: Contact }) {
  const mayWrite = useMay('contacts:write')
  const [isChoosing, setChoosing] = useState(false)
  const saving = useOperation('updateContact', { onDone: () => setChoosing(false) })
  return (
    <Stack gap="xs" mb="xs">
      {companyId === null ? null : <CompanyLink companyId={companyId} />}
      {isChoosing ? (
        <FindField
          label={text.side.findCompany}
          placeholder={text.side.findCompanyHint}
          what={text.side.companies}
          useFound={useFoundCompanies}
          keyOf={({ company_id }) => company_id}
          nameOf={companyChoice}
          isExcluded={({ company_id }) => company_id === companyId}
          onChoose={({ company_id }) => saving.mutate({ contact_id, company_id })}
          disabled={saving.isPending}
          autoFocus
        />
      ) : null}
      <FormError error={saving.error} />
      {mayWrite ? (
        <Group gap="xs">
          <Button variant="default" size="compact-xs" onClick={() => setChoosing(!isChoosing)}>
            {chooseLabel(isChoosing, companyId)}
          </Button>
          {companyId === null || isChoosing ? null : (
            <Button
              variant="default"
              size="compact-xs"
              loading={saving.isPending}
              onClick={() => saving.mutate({ contact_id, company_id: null })}
              aria-label={text.side.removeCompanyLabel}
            >
              {text.side.removeCompany}
            </Button>
          )}
        </Group>
      ) : null}
    </Stack>
  )
}

function chooseLabel(isChoosing: boolean, companyId: string | null): string {
  if (isChoosing) return text.side.cancel
  return companyId === null ? text.side.chooseCompany : text.side.changeCompany
}

function CompanyLink({ companyId }: { companyId: string }) {
  const { data } = useQuery(queryOf('getCompany', { company_id: companyId }))
  return (
    <Text size="sm">
      <AnchorLink inherit fw={550} to="/companies/$companyId" params={{ companyId }}>
        <Foreign max={120}>{data ? companyName(data.company) : '…'}</Foreign>
      </AnchorLink>
    </Text>
  )
}
