import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { createSegment } from '../api/segments.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { SegmentForm } from './segment-form.tsx'

export function NewSegmentPage() {
  return (
    <>
      <PageHeader
        title="New segment"
        description="Define which contacts belong. They are added and removed automatically as they change and act."
        breadcrumb={
          <Anchor inherit renderRoot={(props) => <Link to="/segments" {...props} />}>
            Segments
          </Anchor>
        }
      />
      <SegmentForm submitLabel="Create segment" save={createSegment} />
    </>
  )
}
