import { CalendarClock, CircleAlert, CircleCheck, Clock, Image, Info, PenLine, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Action, Line, Menu } from '../../design/parts/menu.tsx'
import { Select } from '../../design/parts/select.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { Note, Status } from '../../design/parts/status.tsx'
import { Table } from '../../design/parts/table.tsx'
import { toast } from '../../design/parts/toast.tsx'
import tokens from '../../design/tokens.json'
import { Page } from '../../shell/page.tsx'
import type { RegionState } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'

/**
 * Every component in its states, in both themes and both directions: for who builds pages, in development alone. What stands here is
 * English, whatever the language of the page.
 */
export default function Gallery() {
  return (
    <Page title="Design">
      {(['light', 'dark'] as const).flatMap(theme =>
        (['ltr', 'rtl'] as const).map(direction => (
          <section key={`${theme} ${direction}`} className="sample" data-theme={theme} dir={direction} aria-label={`${theme}, ${direction}`}>
            <Sample name={`${theme}, ${direction}`} />
          </section>
        )),
      )}
    </Page>
  )
}

const states: readonly RegionState[] = ['loading', 'ready', 'empty', 'error', 'partial', 'stale']
const problem = { sentence: 'This part does not answer at the moment. The others go on.', code: null, reason: null, field: null, requestId: '0196-4a7e' }
const rows = [
  { id: 'first', title: 'Our office hours move to Thursdays, and the shop opens an hour earlier for everybody who asked for it', status: 'Scheduled' },
  { id: 'second', title: 'Two and three', status: 'Failed' },
]

function Sample({ name }: { readonly name: string }) {
  const [text, setText] = useState('What somebody typed')
  const [choice, setChoice] = useState('first')
  const [asks, setAsks] = useState(false)
  return (
    <>
      <h2>{name}</h2>
      <div className="swatches">
        {Object.keys(tokens.color).map(color => (
          <span key={color} className="swatch" ref={element => element?.style.setProperty('--swatch', `var(--${color})`)}>
            {color}
          </span>
        ))}
      </div>
      <div className="cards">
        <Region title="Buttons" state="ready">
          <div className="actions">
            <Button kind="primary" icon={Send}>
              Publish now
            </Button>
            <Button>Reschedule</Button>
            <Button kind="quiet" icon={PenLine}>
              Edit draft
            </Button>
            <Button kind="danger" icon={Trash2}>
              Delete post
            </Button>
            <Button kind="quiet" icon={Clock} name="History" />
            <Button isDisabled>Not now</Button>
          </div>
        </Region>
        <Region title="Fields" state="ready">
          <Field label="Name" value={text} onChange={setText} hint="As others see it" />
          <Field label="Address" value="" onChange={() => {}} wrong="An address begins with https://" />
          <Select
            label="Choice"
            value={choice}
            onChange={setChoice}
            choices={[
              { id: 'first', name: 'The first' },
              { id: 'second', name: 'The second' },
            ]}
          />
        </Region>
        <Region title="Meanings" state="ready">
          <div className="actions">
            <Status meaning="plain" icon={PenLine}>
              Draft
            </Status>
            <Status meaning="info" icon={CalendarClock}>
              Scheduled
            </Status>
            <Status meaning="positive" icon={CircleCheck}>
              Published
            </Status>
            <Status meaning="warning" icon={Clock}>
              Waits
            </Status>
            <Status meaning="danger" icon={CircleAlert}>
              Failed
            </Status>
          </div>
          <Note meaning="info" icon={Info}>
            A sentence about what it stands above, long enough that it takes more than one line of a narrow card.
          </Note>
          <Statistics>
            <Statistic label="Scheduled today" value="1,204" />
            <Statistic label="Failed" value="3" />
          </Statistics>
        </Region>
        <Region title="What floats" state="ready">
          <div className="actions">
            <Menu name="Actions" button={<Button>Menu</Button>}>
              <Action name="Reschedule">Reschedule</Action>
              <Line />
              <Action name="Delete">Delete</Action>
            </Menu>
            <Button onPress={() => setAsks(true)}>Dialog</Button>
            <Button onPress={() => toast({ sentence: 'The post was moved', action: { name: 'Undo', run() {} } })}>Toast</Button>
          </div>
          {asks && (
            <Dialog title="Publish now" onClose={() => setAsks(false)}>
              <p>It goes out at this moment and cannot be called back from here.</p>
              <div className="actions">
                <Button onPress={() => setAsks(false)}>Cancel</Button>
                <Button kind="primary" onPress={() => setAsks(false)}>
                  Publish now
                </Button>
              </div>
            </Dialog>
          )}
        </Region>
      </div>
      <Region title="Table" isFlush state="ready">
        <Table
          label={`Posts, ${name}`}
          current="second"
          rows={rows}
          columns={[
            { id: 'title', heading: 'Post', isMain: true, cell: ({ title }) => <a href="#content">{title}</a> },
            { id: 'status', heading: 'Status', cell: ({ status }) => status },
          ]}
        />
      </Region>
      <div className="cards">
        {states.map(state => (
          <Region
            key={state}
            title={`Region: ${state}`}
            state={state}
            problem={problem}
            retry={() => {}}
            empty={{ icon: Image, sentence: 'Pictures and films of the brand will be here.', action: <Button>Upload media</Button> }}
          >
            <p>Content</p>
          </Region>
        ))}
      </div>
    </>
  )
}
