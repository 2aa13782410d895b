import { widgetApps } from '../../../subgraphs/launcher/demo.ts'
import { supergraph } from '../../../test/kit/supergraph.ts'
import { tableOfOperations, timeOperation } from './operations.ts'

/** Ms that a batch may take at the median when every app answers. */
const most = 100

/** Measures a dashboard's batch: widgets of the platform and of third parties' apps, which answer over HTTP from the sandbox. */
export async function measureWidgets(runs: number): Promise<string> {
  await using graph = await supergraph({ sandbox: true, catalogue: true })
  await graph.platform.launcher.at.services.catalog.refresh()
  const { owner } = await graph.seed.owner()
  for (const app of widgetApps) (await graph.execute(`mutation { installApp(input: { app: "${app}" }) { id } }`, {}, { as: owner })).data()
  const batch = async () => {
    const { widgets } = (await graph.execute('{ widgets { app state payload { statistics { key value } } } }', {}, { as: owner })).data()
    if (widgets.some(({ state }: { state: string }) => state !== 'FRESH')) throw new Error('a widget was not fresh')
    return widgets
  }
  const count = (await batch()).length
  const forget = (least: number) => graph.rows('delete from launcher.widget_payloads where key in (select key from launcher.widget_payloads limit $1)', [least])
  const after = (left: number) => async () => {
    await forget(left)
    return batch()
  }
  const rows = [
    await timeOperation(`${count} widgets, those of apps from the cache`, runs, batch),
    await timeOperation('one read anew', runs, after(1)),
    await timeOperation('all read anew', runs, after(50)),
  ]
  return `A batch of ${count} widgets, ${widgetApps.length} of them of third parties; ${runs} runs of each. The statement that empties the cache counts.

${tableOfOperations(rows, most)}`
}
