import { useEffect, useState } from 'preact/hooks';
import { download } from '../../api/client';
import { t } from '../../text';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';

export interface Style {
  color: string;
  background: string;
  shape: 'square' | 'rounded' | 'dots';
  level: 'L' | 'M' | 'Q' | 'H';
  margin: number;
  width: number;
}

/** Levels that repair what a logo covers. */
export const logoLevels: readonly string[] = ['Q', 'H'];

type Format = 'png' | 'svg' | 'pdf';

/** The file of a code. The server draws the logo and does not keep it. */
export async function fileOf(
  id: string,
  style: Style,
  format: Format,
  logo?: File,
  signal?: AbortSignal,
): Promise<Blob> {
  const body = new FormData();
  if (logo) body.append('file', logo);
  const path = `/api/urls/${encodeURIComponent(id)}/qrcode`;
  return (await download(path, { ...style, format }, { ...(logo && { body }), ...(signal && { signal }) })).blob;
}

/** The code of a link as a picture. */
export function Code({
  id,
  address,
  style,
  logo,
}: {
  id: string;
  address: string;
  style: Style;
  logo?: File | undefined;
}) {
  const key = JSON.stringify([id, style, logo?.name, logo?.lastModified, logo?.size]);
  const file = useResource(key, (signal) => fileOf(id, style, 'svg', logo, signal));
  const [source, setSource] = useState('');
  const { data } = file;
  useEffect(() => {
    if (!data) return;
    const url = URL.createObjectURL(data);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [data]);
  if (file.error !== undefined) return <Problem error={file.error} retry={file.reload} />;
  if (!source) return <div class="code" aria-busy="true" />;
  return <img class="code" src={source} alt={t('qr.preview', { address })} />;
}
