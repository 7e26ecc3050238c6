// Every part of the console in its states. The texts are examples and in English, whatever the language is.
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Badge, Chip, type Tone } from '../ui/badge';
import { Button, IconButton } from '../ui/button';
import { Card } from '../ui/card';
import { Chips } from '../ui/chips';
import { Choice } from '../ui/choice';
import { DateTime } from '../ui/datetime';
import { Dialog } from '../ui/dialog';
import { Area, Input, Select, Tick } from '../ui/field';
import { FilePicker } from '../ui/filepicker';
import { Menu, type Items } from '../ui/menu';
import { Empty } from '../ui/page';
import { Pager } from '../ui/pager';
import { Picker } from '../ui/picker';
import { Problem } from '../ui/problem';
import { Sheet } from '../ui/sheet';
import { Sparkline } from '../ui/sparkline';
import { Stat, Stats } from '../ui/stat';
import { Table } from '../ui/table';
import { complain, notify, Toasts } from '../ui/toast';

const nothing = () => undefined;

function Part({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <section data-part={name}>
      <h2>{name}</h2>
      {children}
    </section>
  );
}

const colours = ['paper', 'paper-2', 'paper-3', 'ink', 'ink-2', 'ink-3', 'line', 'line-2', 'accent', 'accent-soft'];
const states = ['good', 'good-soft', 'warn', 'warn-soft', 'bad', 'bad-soft', 'focus'];

function Colours() {
  return (
    <Part name="Colours">
      <div class="specimens">
        {[...colours, ...states].map((name) => (
          <div key={name} class="swatch">
            <span ref={(element) => element?.style.setProperty('background', `var(--${name})`)} />
            {name}
          </div>
        ))}
      </div>
    </Part>
  );
}

function Type() {
  return (
    <Part name="Type">
      <h1>Title of a screen</h1>
      <h2>Title of a part</h2>
      <p>Text of the page. The address is go.example.com/summer.</p>
      <p class="hint">A hint, a period, or what a field means.</p>
      <p class="mono">go.example.com/summer</p>
    </Part>
  );
}

const items: Items = [
  { text: 'Copy the address', icon: 'copy', keys: 'c', onPick: nothing },
  { text: 'Open', icon: 'external', href: '#open', away: true },
  { text: 'Move to a bundle', icon: 'bundle', disabled: 'You may not edit this link.' },
  'line',
  { text: 'Delete', icon: 'trash', danger: true, onPick: nothing },
];

function Actions() {
  return (
    <>
      <Part name="Buttons">
        <div class="specimens">
          <Button kind="primary">Create</Button>
          <Button icon="download">Export</Button>
          <Button kind="danger">Delete</Button>
          <Button kind="quiet">Cancel</Button>
          <Button kind="primary" busy>
            Saving
          </Button>
          <IconButton icon="copy" label="Copy" />
        </div>
      </Part>
      <Part name="Menus">
        <div class="specimens">
          <Menu label="Actions for Summer sale" items={items} />
          <Menu label="Export" text="Export" icon="download" items={items} />
        </div>
      </Part>
    </>
  );
}

const tones: Tone[] = ['good', 'warn', 'bad', 'accent', 'neutral'];

function States() {
  const [chips, setChips] = useState(['Germany', 'Japan']);
  return (
    <Part name="Badges and chips">
      <div class="specimens">
        {tones.map((tone) => (
          <Badge key={tone} tone={tone}>
            {{ good: 'Active', warn: 'Ends in 3 days', bad: 'Suspended', accent: 'New', neutral: 'Archived' }[tone]}
          </Badge>
        ))}
      </div>
      <div class="specimens">
        {chips.map((one) => (
          <Chip key={one} name="Country" text={one} onRemove={() => setChips(chips.filter((other) => other !== one))} />
        ))}
      </div>
    </Part>
  );
}

/** Fields whose values follow what is typed. */
function Fields() {
  const [text, setText] = useState('Summer sale');
  const [list, setList] = useState(['summer', 'print']);
  const [choice, setChoice] = useState<'302' | '301'>('302');
  const [ticked, setTicked] = useState(true);
  return (
    <Part name="Fields">
      <div class="fields">
        <Input label="Title" value={text} onValue={setText} hint="Only you and your team see it." />
        <Input label="Address" value="not an address" onValue={nothing} problem="Write an address with https." />
        <Input label="Slug" value="summer" onValue={nothing} readOnly />
        <Select label="Domain" value="a" options={[['a', 'go.example.com']]} onValue={nothing} />
        <Area label="Note" value={text} onValue={setText} rows={2} />
        <Picker
          label="Bundle"
          name="bundle"
          shown="Summer"
          none="None"
          find={() => Promise.resolve([['1', 'Winter']])}
          onPick={nothing}
        />
        <div class="field">
          <span class="label">Tags</span>
          <Chips label="Tags" values={list} options={[]} onValues={setList} />
        </div>
        <Choice
          label="Redirect"
          name="redirect"
          value={choice}
          options={[
            ['302', 'Temporary', 'Visitors ask again, so a change works at once.'],
            ['301', 'Permanent', 'Browsers may keep it for ever.'],
          ]}
          onValue={setChoice}
        />
        <Tick label="Count bots" checked={ticked} onValue={setTicked} hint="They are shown apart." />
      </div>
    </Part>
  );
}

function Dates() {
  const [date, setDate] = useState('2026-11-29');
  const [time, setTime] = useState('2026-11-29T18:30');
  const [clock, setClock] = useState('09:00');
  return (
    <Part name="Dates and files">
      <div class="fields">
        <DateTime label="First day" kind="date" value={date} onValue={setDate} />
        <DateTime
          label="End"
          name="end"
          zone="Europe/Berlin"
          value={time}
          onValue={setTime}
          hint="Visitors get the end page then."
        />
        <DateTime label="From" kind="time" value={clock} onValue={setClock} />
        <DateTime label="Begin" zone="UTC" value="" onValue={nothing} />
        <DateTime
          label="Expiry"
          zone="UTC"
          value="2020-01-01T00:00"
          onValue={nothing}
          problem="This time is in the past."
        />
        <FilePicker label="Logo" accept="image/png" onFile={nothing} hint="PNG, at most 1 MB." />
        <FilePicker
          label="Picture"
          accept="image/png"
          file={{ name: 'summer-sale-2026.png', size: 48_213 }}
          onFile={nothing}
        />
      </div>
    </Part>
  );
}

const days = [3, 5, 4, 8, 9, 7, 12, 14, 9, 11, 16, 21, 18, 24];

function Figures() {
  return (
    <Part name="Figures">
      <Stats>
        <Stat label="Clicks" value={1204} period="30 days" before={1003} more="good">
          <Sparkline values={days} label="1,204 clicks in 30 days" />
        </Stat>
        <Stat label="Visitors" value={871} period="30 days" before={902} more="good" />
        <Stat label="Errors" value={3} period="24 hours" before={1} more="bad" />
        <Stat label="Latency" value="1.8" unit="ms" period="99th percentile" />
      </Stats>
      <div class="fields">
        <Card title="Countries" note="30 days" actions={<Menu label="Actions for Countries" items={items} />}>
          <p>Content of a card.</p>
        </Card>
        <Card title="Loading">
          <Sparkline values={undefined} label="" />
        </Card>
      </div>
    </Part>
  );
}

interface Row {
  name: string;
  clicks: string;
}

const rows: Row[] = [
  { name: 'Summer sale', clicks: '1,204' },
  { name: 'Winter sale', clicks: '96' },
];

function Lists() {
  return (
    <Part name="Tables, notices and empty states">
      <Table
        label="Links"
        rows={rows}
        keyOf={(row) => row.name}
        columns={[
          { name: 'Title', cell: (row) => row.name },
          { name: 'Clicks, 30 days', cell: (row) => row.clicks, figure: true },
          { name: 'Actions', cell: (row) => <Menu label={`Actions for ${row.name}`} items={items} /> },
        ]}
      />
      <Pager page={2} totalPages={9} />
      <Problem error={new Error('offline')} retry={nothing} />
      <p class="notice warn">The certificate ends in 3 days.</p>
      <Empty title="No webhooks" hint="A webhook tells your program about each click.">
        <Button kind="primary">Add a webhook</Button>
      </Empty>
    </Part>
  );
}

function Layers() {
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
  return (
    <Part name="Dialogs, sheets and toasts">
      <div class="specimens">
        <Button onClick={() => setOpen('dialog')}>Open a dialog</Button>
        <Button onClick={() => setOpen('sheet')}>Open a sheet</Button>
        <Button onClick={() => notify('Saved', nothing)}>Show a toast</Button>
        <Button onClick={() => complain(new Error('offline'))}>Show a problem</Button>
      </div>
      {open === 'dialog' && (
        <Dialog title="Delete the link" onClose={close}>
          <p class="hint">It goes to the trash for 30 days.</p>
          <footer>
            <Button onClick={close}>Cancel</Button>
            <Button kind="danger">Delete</Button>
          </footer>
        </Dialog>
      )}
      {open === 'sheet' && (
        <Sheet title="Edit the link" onClose={close}>
          <form onSubmit={(event) => event.preventDefault()}>
            <Input label="Title" value="Summer sale" onValue={nothing} first />
            <DateTime label="End" value="2026-11-29T18:30" onValue={nothing} />
            <footer>
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" type="submit">
                Save
              </Button>
            </footer>
          </form>
        </Sheet>
      )}
    </Part>
  );
}

/** The whole gallery. */
export function Gallery() {
  return (
    <main class="gallery">
      <nav aria-label="Themes">
        {['light', 'dark', 'contrast'].flatMap((theme) =>
          ['ltr', 'rtl'].map((direction) => (
            <a key={theme + direction} href={`?theme=${theme}&direction=${direction}`}>
              {theme} {direction}
            </a>
          )),
        )}
      </nav>
      <Type />
      <Colours />
      <Actions />
      <States />
      <Fields />
      <Dates />
      <Figures />
      <Lists />
      <Layers />
      <Toasts />
    </main>
  );
}
