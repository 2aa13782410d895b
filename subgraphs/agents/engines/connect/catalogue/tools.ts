import type { ToolRow } from '../../../stores/connector.ts'
import type { Json } from '../../../stores/workflow.ts'

/** The tools of the developer platform's catalogue of mobile apps. */
export type CatalogueTool = 'list_apps' | 'get_app' | 'list_artifacts'

const text = { type: 'string' }
const platform = { type: 'string', enum: ['ANDROID', 'IOS'] }

const tool = (name: CatalogueTool, description: string, properties: Readonly<Record<string, Json>>, required: readonly string[] = []): ToolRow => ({
  ...{ name, title: null, description, inputSchema: { type: 'object', properties, required, additionalProperties: false } },
  ...{ permission: 'AUTO', risk: 'LOW', readOnly: true, idempotent: true },
})

/** The tools as an organization finds them; all of them only read. */
export const catalogueTools: readonly ToolRow[] = [
  tool('list_apps', 'Lists mobile apps with the files of each kind of phone.', { platform }),
  tool('get_app', 'Returns one mobile app with its files.', { id: text }, ['id']),
  tool('list_artifacts', 'Lists the files of a mobile app, of one kind of phone where it is named.', { id: text, platform }, ['id']),
]

/** Whether the catalogue has a tool of this name. */
export const isCatalogueTool = (name: string): name is CatalogueTool => catalogueTools.some(each => each.name === name)
