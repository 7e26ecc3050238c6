import './qr.css';
import { useId, useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search } from '../../route';
import { number, t } from '../../text';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { FilePicker } from '../../ui/filepicker';
import { Head, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { save } from '../../ui/save';
import { complain } from '../../ui/toast';
import { LinkTabs } from '../link/tabs';
import { bare, nameOf } from '../links/changes';
import { Code, fileOf, logoLevels, type Style } from './code';
import { contrast, enough, luminance } from './colors';

const shapes = ['square', 'rounded', 'dots'] as const;
const levels = ['L', 'M', 'Q', 'H'] as const;
const margins = ['0', '1', '2', '4', '6', '8'];
const sizes = ['200', '300', '600', '1200', '2048'];

/** The style in the address, so that it can be shared. Wrong values are the default's. */
function styleOf(values: URLSearchParams): Style {
  const color = (name: string, usual: string) => {
    const value = values.get(name) ?? '';
    return /^#[\da-f]{6}$/i.test(value) ? value : usual;
  };
  const one = <V extends string>(name: string, options: readonly V[], usual: V): V =>
    options.find((option) => option === values.get(name)) ?? usual;
  return {
    color: color('color', '#000000'),
    background: color('background', '#ffffff'),
    shape: one('shape', shapes, 'square'),
    level: one('level', levels, 'M'),
    margin: Number(one('margin', margins, '4')),
    width: Number(one('width', sizes, '600')),
  };
}

function Color({ label, name, value }: { label: string; name: 'color' | 'background'; value: string }) {
  const id = useId();
  return (
    <div class="field color">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="color"
        name={name}
        value={value}
        onInput={(event) => search({ [name]: event.currentTarget.value })}
      />
    </div>
  );
}

/** What may keep a camera from reading the code. */
function Warnings({ style }: { style: Style }) {
  const ratio = contrast(style.color, style.background);
  const texts = [
    ratio < enough ? t('qr.contrast', { ratio: number(Math.round(ratio * 10) / 10) }) : '',
    luminance(style.color) > luminance(style.background) ? t('qr.inverted') : '',
    style.margin < 4 ? t('qr.narrow') : '',
  ].filter(Boolean);
  return (
    <div role="status">
      {texts.map((text) => (
        <p key={text} class="qrwarning">
          {text}
        </p>
      ))}
    </div>
  );
}

/** The choice of an image for the middle of the code. */
function Logo({ logo, onLogo }: LogoProps) {
  const take = (file: File | undefined) => {
    onLogo(file);
    // The logo covers a part of the code, which only these levels repair.
    if (file && !logoLevels.includes(query.value.get('level') ?? '')) search({ level: 'H' });
  };
  return (
    <FilePicker
      label={t('qr.logo')}
      hint={t('qr.logoHint')}
      name="logo"
      accept="image/png,image/jpeg,image/webp,image/gif"
      file={logo}
      onFile={take}
    />
  );
}

interface LogoProps {
  logo: File | undefined;
  onLogo: (logo: File | undefined) => void;
}

function Form({ style, logo, onLogo }: LogoProps & { style: Style }) {
  const plain = (values: readonly string[]) => values.map((value) => [value, number(Number(value))] as const);
  return (
    <div class="form">
      <div class="colors">
        <Color label={t('labels.color')} name="color" value={style.color} />
        <Color label={t('qr.background')} name="background" value={style.background} />
      </div>
      <Select
        label={t('qr.shape')}
        name="shape"
        value={style.shape}
        options={shapes.map((one) => [one, t(`qr.style.${one}`)] as const)}
        onValue={(shape) => search({ shape })}
      />
      <Select
        label={t('qr.level')}
        name="level"
        value={style.level}
        options={levels
          .filter((one) => !logo || logoLevels.includes(one))
          .map((one) => [one, t(`qr.style.${one}`)] as const)}
        onValue={(level) => search({ level })}
      />
      <Select
        label={t('qr.margin')}
        name="margin"
        value={`${style.margin}`}
        options={plain(margins)}
        onValue={(margin) => search({ margin })}
      />
      <Select
        label={t('qr.size')}
        name="width"
        value={`${style.width}`}
        options={plain(sizes)}
        onValue={(width) => search({ width })}
      />
      <Logo logo={logo} onLogo={onLogo} />
    </div>
  );
}

function Downloads({ link, style, logo }: { link: Schema<'URL'>; style: Style; logo: File | undefined }) {
  const download = async (format: 'png' | 'svg' | 'pdf') =>
    save(await fileOf(link.id, style, format, logo), `${link.slug}.${format}`);
  return (
    <div class="downloads">
      {(['png', 'svg', 'pdf'] as const).map((format) => (
        <Button
          key={format}
          icon="download"
          kind={format === 'png' ? 'primary' : 'plain'}
          onClick={() => void download(format).catch(complain)}
        >
          {t('qr.download', { format: format.toUpperCase() })}
        </Button>
      ))}
    </div>
  );
}

/** The QR code of a link: its look, and files to download. */
export function Designer({ id }: { id: string }) {
  const [logo, setLogo] = useState<File>();
  const link = useResource(`link ${id}`, (signal) => api.get('/api/urls/{id}', { path: { id }, signal }));
  if (link.error !== undefined || !link.data) return <Waiting of={link} />;
  const asked = styleOf(query.value);
  const style: Style = logo && !logoLevels.includes(asked.level) ? { ...asked, level: 'H' } : asked;
  return (
    <>
      <Head
        title={t('qr.titleOf', { link: nameOf(link.data) })}
        above={['/links', t('links.title')]}
        note={<bdi dir="ltr">{bare(link.data.shortUrl)}</bdi>}
      />
      <LinkTabs id={id} here="/qr" />
      <div class="designer">
        <Form style={style} logo={logo} onLogo={setLogo} />
        <div class="result">
          <Code id={id} address={bare(link.data.shortUrl)} style={style} logo={logo} />
          <Warnings style={style} />
          <Downloads link={link.data} style={style} logo={logo} />
        </div>
      </div>
    </>
  );
}
