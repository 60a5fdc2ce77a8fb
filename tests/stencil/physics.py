#!/usr/bin/env python3
"""The stencil's problems come out as the literature and an independent program say."""
import stencil_test
from stencil_test import near


def test_orszag_tang_128(stencil):
    run = stencil.run(2, ["--problem", "orszag-tang", "--zones", "128,128", "--patch", "16", "--threads", "2"])
    assert run["steps"] == 404, run
    near(run["time"], 0.5, 0)
    near(run["mean_rho"], 0.2210485320720784, 1e-13)
    near(run["mean_energy"], 0.3492566806738823, 1e-13)
    near(run["rho_min"], 0.094271, 1e-3)
    near(run["rho_max"], 0.492258, 1e-3)
    assert run["max_divb"] < 2e-12, run
    serial = stencil.run(0, ["--problem", "orszag-tang", "--zones", "128,128", "--serial"])
    assert serial["hash"] == run["hash"], (serial, run)


def test_brio_wu_400(stencil):
    run = stencil.run(2, ["--problem", "brio-wu", "--zones", "400,8", "--patch", "8", "--threads", "2"])
    near(run["rho_min"], 0.11573, 5e-4)
    near(run["rho_max"], 1.0, 1e-12)
    assert run["max_divb"] < 1e-12, run


def test_alfven_wave_is_second_order(stencil):
    errors = [stencil.run(2, ["--problem", "alfven", "--zones", f"{n},{n}", "--patch", "16", "--threads", "1"])["l1_bz"]
              for n in (32, 64, 128)]
    for n, published, error in zip((32, 64, 128), (1.1206e-3, 2.738e-4, 6.246e-5), errors):
        assert error < published, (n, error)
    for coarse, fine in zip(errors, errors[1:]):
        assert 3.5 < coarse / fine < 5.0, errors


def test_blast_is_symmetric(stencil):
    run = stencil.run(2, ["--problem", "blast", "--zones", "128,128", "--patch", "16", "--threads", "2"])
    near(run["asymmetry"], 0.0, 1e-11)
    near(run["mean_rho"], 1.0, 1e-13)
    assert run["rho_min"] > 0.1 and 2.3 < run["rho_max"] < 3.0 and run["max_divb"] < 5e-12, run


def test_blast_in_three_dimensions_is_symmetric(stencil):
    run = stencil.run(2, ["--problem", "blast", "--zones", "32,32,32", "--patch", "8", "--threads", "2"])
    near(run["asymmetry"], 0.0, 1e-11)
    near(run["mean_rho"], 1.0, 1e-13)
    assert run["rho_min"] < 0.2 and 1.4 < run["rho_max"] < 2.5 and run["max_divb"] < 5e-12, run


def test_sedov_shock_is_where_the_exact_solution_has_it(stencil):
    run = stencil.run(2, ["--problem", "sedov", "--zones", "32,32,32", "--patch", "16", "--threads", "2"])
    exact = 1.033 * run["time"] ** 0.4
    near(run["shock_radius"], exact, 0.02 * exact)
    near(run["asymmetry"], 0.0, 1e-11)
    near(run["mean_rho"], 1.0, 1e-13)
    serial = stencil.run(0, ["--problem", "sedov", "--zones", "32,32,32", "--serial"])
    assert serial["hash"] == run["hash"], (serial, run)


def test_a_wave_uniform_along_z_is_the_same_in_three_dimensions(stencil):
    flat, deep = (stencil.run(2, ["--problem", "orszag-tang", "--zones", zones, "--patch", "8", "--time", "0.1"])
                  for zones in ("32,32", "32,32,8"))
    for key in ("mean_rho", "mean_energy"):
        near(deep[key], flat[key], 1e-13)
    for key in ("rho_min", "rho_max"):  # the steps are shorter, and fluxes along z are not quite nothing
        near(deep[key], flat[key], 0.02)
    assert deep["max_divb"] < 1e-12, deep


if __name__ == "__main__":
    stencil_test.main(globals())
