import { Checkbox, Text } from '@mantine/core'
import { useState } from 'react'
import type { Company } from '../api/types.ts'
import { FindField } from '../ui/find-field.tsx'
import { type BulkActionProps, BulkDialog } from './bulk-dialog.tsx'
import { companyName } from './company-columns.tsx'
import { companyChoice, useFoundCompanies } from './find-companies.ts'
import { text } from './text.ts'

/** Moves many contacts to a company, or out of theirs. */
export function BulkCompany(props: BulkActionProps) {
  const [company, setCompany] = useState<Company | null>(null)
  const [isNone, setNone] = useState(false)
  const companyId = isNone ? null : company?.company_id
  return (
    <BulkDialog
      {...props}
      title={text.bulk.companyTitle(props.count)}
      confirmLabel={text.bulk.setButton('contacts', props.count)}
      change={companyId === undefined ? undefined : { set: { company_id: companyId } }}
    >
      {isNone ? null : (
        <FindField
          label={text.bulk.findCompany}
          placeholder={text.bulk.findCompanyHint}
          what={text.bulk.companies}
          useFound={useFoundCompanies}
          keyOf={({ company_id }) => company_id}
          nameOf={companyChoice}
          isExcluded={({ company_id }) => company_id === company?.company_id}
          onChoose={setCompany}
          autoFocus
        />
      )}
      {company && !isNone ? (
        <Text size="sm" role="status">
          {text.bulk.chosenCompany(companyName(company).slice(0, 120))}
        </Text>
      ) : null}
      <Checkbox
        label={text.bulk.noCompany}
        checked={isNone}
        onChange={({ currentTarget: { checked } }) => setNone(checked)}
      />
    </BulkDialog>
  )
}
