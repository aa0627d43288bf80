# The Homebrew formula: installs the npm package, its man page and completions. The release workflow fills in @...@.
class Imgctl < Formula
  desc "Command-line tool for services that deploy OVA and OVF images"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")

    # Links, because the program prints its completions from its own folder.
    package = libexec/"lib/node_modules/imgctl"
    bash_completion.install_symlink package/"completions/imgctl.bash" => "imgctl"
    zsh_completion.install_symlink package/"completions/imgctl.zsh" => "_imgctl"
    fish_completion.install_symlink package/"completions/imgctl.fish"
    man1.install_symlink package/"dist/man/imgctl.1"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/imgctl --version").strip
  end
end
