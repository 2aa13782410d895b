import { Download, FileText } from 'lucide-react'
import { Diff } from '../../design/history/diff.tsx'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { saveFile } from '../../shell/data/file.ts'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ReportDetailDocument, type ReportKind, ReportsDocument, type WorkReportRowFragment } from './reports.generated.ts'

/** Texts that runs have written; the one that the path names is open beside them. */
export default function Reports() {
  return (
    <Page title={say('reports.title')}>
      <Guard need="agents:reports.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/reports\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { kind } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(kind && { kind: kind as ReportKind }) }
  const { data, state, problem, retry } = useRead(ReportsDocument, variables, { isEmpty: ({ reports }) => reports?.nodes?.length === 0 })
  const rows = (data?.reports?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/reports" search={search} pills={offered} />
        <Listing
          label={say('reports.title')}
          path="/reports"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.reports?.pageInfo}
          total={data?.reports?.totalCount}
          attributes={each => ({ 'data-report': each.id })}
          empty={{ icon: FileText, sentence: say(kind ? 'reports.nothing' : 'reports.empty') }}
        />
      </div>
      {id && <ReportPanel key={id} id={id} back={withSearch('/reports', search, {})} />}
    </div>
  )
}

/** One report with its versions, and what the latest has changed. */
function ReportPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(ReportDetailDocument, { id })
  const report = data?.report
  const [, before] = report?.versions ?? []
  return (
    <Panel label={say('reports.one')} heading={report?.title} back={back} state={data && !report ? 'error' : state} problem={problem} retry={retry}>
      {report && (
        <>
          <p className="text" dir="auto">
            {report.text}
          </p>
          <div className="actions">
            <Button icon={Download} onPress={() => saveFile(`${report.title}.md`, 'text/markdown', report.text)}>
              {say('reports.save')}
            </Button>
          </div>
          <Facts
            of={[
              [say('reports.kind'), say(`report-kind.${report.kind}`)],
              [say('reports.version'), report.version],
              [
                say('runs.one'),
                report.run && (
                  <Link key="run" to={`/runs/${report.run.id}`}>
                    {report.run.workflow?.name ?? say('runs.single')}
                  </Link>
                ),
              ],
              [say('reports.written'), moment(report.updatedAt)],
            ]}
          />
          {before && (
            <details>
              <summary>{say('reports.changes', { version: before.version })}</summary>
              <Diff before={before.text} after={report.text} />
            </details>
          )}
          {(report.versions ?? []).slice(1).map(({ version, text, createdAt }) => (
            <details key={version}>
              <summary>{say('reports.as-version', { version, when: moment(createdAt) })}</summary>
              <p className="text" dir="auto">
                {text}
              </p>
            </details>
          ))}
        </>
      )}
    </Panel>
  )
}

const pills = (): readonly (Pill & { readonly name: 'kind' })[] => [
  { name: 'kind', heading: say('reports.kind'), values: ['REPORT', 'ARTIFACT'], title: value => say(`report-kind.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<WorkReportRowFragment>[] => [
  { id: 'title', heading: say('reports.one'), isMain: true, cell: ({ id, title }) => <Link to={withSearch(`/reports/${id}`, search, {})}>{title}</Link> },
  { id: 'kind', heading: say('reports.kind'), cell: ({ kind }) => say(`report-kind.${kind}`) },
  { id: 'version', heading: say('reports.version'), isFigure: true, cell: ({ version }) => version },
  {
    id: 'at',
    heading: say('reports.written'),
    cell: ({ updatedAt }) => (
      <time className="quiet" dateTime={updatedAt}>
        {lately(updatedAt)}
      </time>
    ),
  },
]
