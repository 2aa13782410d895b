import { Facts } from '../../design/parts/facts.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { CatalogueAppDocument } from './apps.generated.ts'
import { AppStatus, Remove, Verbs, type VerbsProps } from './verbs.tsx'

const list = new Intl.ListFormat(locale, { type: 'conjunction' })

/** One app beside the catalogue. @param back the catalogue's address */
export function AppPanel({ slug, back, reload, ...verbs }: Omit<VerbsProps, 'app'> & { readonly slug: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(CatalogueAppDocument, { app: slug })
  const { isPersonal, may } = useRights()
  const app = data?.catalogEntry
  const changed = () => {
    retry()
    reload()
  }
  return (
    <Panel label={say('apps.detail')} heading={app?.title} back={back} state={data && !app ? 'error' : state} problem={problem} retry={retry}>
      {app && (
        <>
          <AppStatus of={app} />
          {(app.description ?? app.summary) && <p className="text">{app.description ?? app.summary}</p>}
          <Facts
            of={[
              [say('apps.publisher'), app.publisher],
              [say('apps.category'), app.category && sayIfKnown(`category.${app.category}`, app.category)],
              [say('apps.origin'), say(`apps.origin-${app.origin}`)],
              [
                say('apps.contexts'),
                list.format([...app.contexts.map(each => say(`apps.context-${each}`)), ...app.capabilities.map(each => say(`apps.${each}`))]),
              ],
              [
                say('apps.since'),
                app.installation &&
                  (app.installation.installedBy
                    ? say('apps.since-by', { when: moment(app.installation.installedAt), name: app.installation.installedBy.name })
                    : moment(app.installation.installedAt)),
              ],
            ]}
          />
          <Verbs app={app} {...verbs} reload={changed} />
          {app.installed && app.installation && (isPersonal || may('launcher:apps.write')) && (
            <div className="actions">
              <Remove app={app} version={app.installation.version} onDone={changed} />
            </div>
          )}
        </>
      )}
    </Panel>
  )
}
