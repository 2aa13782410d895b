import { Plug } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { Note } from '../../../design/parts/status.tsx'
import { goTo, Link } from '../../../shell/address.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { Guard } from '../../../shell/frame/guard.tsx'
import { Page } from '../../../shell/page.tsx'
import { useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { Risk } from '../../approvals/state.tsx'
import { ExecuteActionDocument, OperateToolsDocument, type OperateToolsQuery } from './operate.generated.ts'
import { argumentsOf, fieldsOf, type SchemaField } from './schema.ts'

type Connector = NonNullable<OperateToolsQuery['connectors']>[number]
type Tool = NonNullable<Connector['tools']>[number]

/** Calls one tool of a connector by hand; its run is followed on its own page. */
export default function Operate() {
  return (
    <Page title={say('operate.title')}>
      <Guard need="agents:runs.invoke">
        <Choose />
      </Guard>
    </Page>
  )
}

function Choose() {
  const { data, state, problem, retry } = useRead(OperateToolsDocument, {})
  const [connectorId, setConnector] = useState<string | null>(null)
  const [toolName, setTool] = useState<string | null>(null)
  const usable = (data?.connectors ?? []).filter(({ status, tools }) => status !== 'DISABLED' && (tools ?? []).some(({ permission }) => permission !== 'DENY'))
  const connector = usable.find(({ id }) => id === connectorId) ?? usable[0]
  const tools = (connector?.tools ?? []).filter(({ permission }) => permission !== 'DENY')
  const tool = tools.find(({ name }) => name === toolName) ?? tools[0]
  return (
    <Region
      title={say('operate.action')}
      state={state === 'ready' && usable.length === 0 ? 'empty' : state}
      problem={problem}
      retry={retry}
      empty={{
        icon: Plug,
        sentence: say('operate.empty'),
        action: (
          <Link className="button secondary" to="/connectors">
            {say('operate.to-connectors')}
          </Link>
        ),
      }}
    >
      {connector && tool && (
        <div className="form">
          <Select label={say('connectors.one')} choices={usable} value={connector.id} onChange={setConnector} />
          <Select
            label={say('operate.tool')}
            choices={tools.map(({ name, title }) => ({ id: name, name: title ?? name }))}
            value={tool.name}
            onChange={setTool}
          />
          <ToolForm key={`${connector.id} ${tool.name}`} connector={connector} tool={tool} />
        </div>
      )}
    </Region>
  )
}

function ToolForm({ connector, tool }: { readonly connector: Connector; readonly tool: Tool }) {
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID())
  const [{ error, fetching }, execute] = useMutation(ExecuteActionDocument)
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [purpose, setPurpose] = useState('')
  const [asksFirst, setAsksFirst] = useState(false)
  const [isTried, setTried] = useState(false)
  const fields = fieldsOf(tool.inputSchema)
  const given = argumentsOf(fields, typed)
  const problem = problemOf(error)
  const change = (name: string, value: string) => {
    setTyped({ ...typed, [name]: value })
    // Other arguments are another action.
    setKey(crypto.randomUUID())
  }
  async function act(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    if (given.wrong.size > 0) return
    const gate = asksFirst ? { title: say('operate.gate', { tool: tool.title ?? tool.name }), risk: tool.risk } : null
    const { data } = await execute({
      input: {
        ...{ connectorId: connector.id, tool: tool.name, arguments: given.arguments, idempotencyKey },
        ...(purpose.trim() && { purpose: purpose.trim() }),
        ...(gate && { gate }),
      },
    })
    if (data?.executeAction) goTo(`/runs/${data.executeAction.id}`)
  }
  return (
    <form className="form" onSubmit={event => void act(event)} noValidate>
      {tool.description && <p dir="auto">{tool.description}</p>}
      <div>
        <Risk risk={tool.risk} />
      </div>
      {tool.permission === 'ASK' && (
        <Note meaning="info" icon={Plug}>
          {say('operate.asks')}
        </Note>
      )}
      {fields.map(field => (
        <Argument
          key={field.name}
          field={field}
          value={typed[field.name] ?? ''}
          wrong={isTried && given.wrong.has(field.name)}
          onChange={value => change(field.name, value)}
        />
      ))}
      {connector.counterparty && <Field label={say('operate.purpose')} value={purpose} onChange={setPurpose} hint={say('operate.purpose-hint')} />}
      {tool.permission === 'AUTO' && (
        <label className="check">
          <input type="checkbox" checked={asksFirst} onChange={event => setAsksFirst(event.target.checked)} />
          {say('operate.ask-first')}
        </label>
      )}
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button kind="primary" type="submit" isDisabled={fetching}>
          {say('operate.execute')}
        </Button>
      </div>
    </form>
  )
}

function Argument({
  field,
  value,
  wrong,
  onChange,
}: {
  readonly field: SchemaField
  readonly value: string
  readonly wrong: boolean
  onChange(value: string): void
}) {
  const { choices, hint, kind, title } = field
  if (kind === 'boolean')
    return (
      <label className="check">
        <input type="checkbox" checked={value === 'true'} onChange={event => onChange(String(event.target.checked))} />
        {title}
      </label>
    )
  if (kind === 'choice') {
    const offered = [{ id: '', name: say('workflows.none') }, ...choices.map(id => ({ id, name: id }))]
    return (
      <>
        <Select label={title} choices={offered} value={value} onChange={onChange} />
        {wrong && <p className="wrong small">{say('form.required')}</p>}
      </>
    )
  }
  const said = value.trim() === '' ? 'form.required' : kind === 'number' ? 'operate.no-number' : 'workflows.no-json'
  return (
    <Field
      label={title}
      value={value}
      onChange={onChange}
      hint={kind === 'json' ? [hint, 'JSON'].filter(Boolean).join(' · ') : hint}
      wrong={wrong ? say(said) : null}
      {...(kind === 'json' && { rows: 4 })}
      {...(kind === 'number' && { inputMode: 'decimal' as const })}
    />
  )
}
