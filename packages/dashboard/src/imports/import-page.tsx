import { Group } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { refreshAfter } from '../api/operation.ts'
import type { Import } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { importQuery, isAtWork } from './import-queries.ts'
import { ImportState } from './import-state.tsx'
import { ImportSteps, type Step } from './import-steps.tsx'
import { MappingStep } from './mapping-step.tsx'
import { PreviewStep } from './preview-step.tsx'
import { ResultStep } from './result-step.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/imports/$importId')

/** One import, at the step of the address, as far as its state has come. */
export function ImportPage() {
  const { importId } = route.useParams()
  const { step: wanted } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: read, error, refetch } = useQuery(importQuery(importId))
  const data = read?.import
  useFreshContacts(data)
  const breadcrumb = (
    <AnchorLink inherit to="/imports">
      {text.imports}
    </AnchorLink>
  )
  if (!data) {
    return (
      <>
        <PageHeader title={text.file.title} breadcrumb={breadcrumb} />
        {error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={8} />}
      </>
    )
  }
  const open = openSteps(data)
  // A mapping without a preview is still edited.
  const next = data.state === 'mapped' ? 'mapping' : (open.at(-1) ?? 'import')
  const step = open.find((each) => each === wanted) ?? next
  const go = (to: Step) => {
    if (to !== 'file') void navigate({ search: { step: to } })
  }
  return (
    <>
      <PageHeader
        title={<Foreign max={120}>{data.file_name}</Foreign>}
        documentTitle={data.file_name}
        description={
          <Group gap={8} component="span">
            <ImportState state={data.state} />
            {data.row_count === null ? null : text.list.rowCount(formatNumber(data.row_count))}
          </Group>
        }
        breadcrumb={breadcrumb}
      />
      <ImportSteps step={step} open={open} onStep={go} />
      {step === 'mapping' ? <MappingStep key={formatKey(data)} of={data} onPreview={() => go('preview')} /> : null}
      {step === 'preview' ? (
        <PreviewStep of={data} onMapping={() => go('mapping')} onStarted={() => go('import')} />
      ) : null}
      {step === 'import' ? <ResultStep of={data} /> : null}
    </>
  )
}

/** The mapping belongs to one way of reading the file, and starting over replaces it. */
function formatKey({ encoding, delimiter, header_line, remembered }: Import): string {
  return JSON.stringify([encoding, delimiter, header_line, remembered])
}

/** Reads the contacts and their properties again once the import, or undoing it, has ended. */
function useFreshContacts(of: Import | undefined): void {
  const queryClient = useQueryClient()
  const isWorking = of !== undefined && isAtWork(of)
  const wasWorking = useRef(false)
  useEffect(() => {
    if (wasWorking.current && !isWorking) void refreshAfter(queryClient, 'updateContact')
    wasWorking.current = isWorking
  }, [isWorking, queryClient])
}

/** The steps that an import in this state can show. */
function openSteps({ state }: Import): Step[] {
  switch (state) {
    case 'uploaded':
      return ['mapping']
    case 'previewing':
      return ['preview']
    case 'mapped':
    case 'previewed':
      return ['mapping', 'preview']
    default:
      return ['import']
  }
}
